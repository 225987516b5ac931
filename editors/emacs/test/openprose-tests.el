;;; openprose-tests.el --- Tests of openprose-mode  -*- lexical-binding: t; -*-

;;; Commentary:

;; `tests/tests/editors/emacs.rs' runs them in a real Emacs with the language
;; server.  PROSE names the program.

;;; Code:

(require 'ert)
(require 'eglot)
(require 'openprose-mode)

(setq openprose-program (or (getenv "PROSE") "prose"))

(defconst openprose-tests-patience 60
  "How many seconds anything may take, since the machine may be busy.")

(defmacro openprose-tests-wait (what &rest condition)
  "Wait until CONDITION holds, and return its value; fail with WHAT."
  (declare (indent 1))
  `(let ((deadline (+ (float-time) openprose-tests-patience)) value)
     (while (and (not (setq value (progn ,@condition)))
                 (< (float-time) deadline))
       (accept-process-output nil 0.05))
     (or value (ert-fail (list "waited in vain" ,what)))))

(defmacro openprose-tests-with-program (text &rest body)
  "Open a program of TEXT in a project of its own and do BODY there."
  (declare (indent 1))
  `(let* ((folder (make-temp-file "openprose" t))
          (file (expand-file-name "program.prose" folder)))
     (unwind-protect
         (progn
           (write-region "" nil (expand-file-name "prose.toml" folder) nil 'silent)
           (write-region ,text nil file nil 'silent)
           (with-current-buffer (find-file-noselect file)
             (unwind-protect (progn ,@body)
               (set-buffer-modified-p nil)
               (kill-buffer))))
       (delete-directory folder t))))

(defun openprose-tests-face (text)
  "The face of the first TEXT in the buffer."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (get-text-property (match-beginning 0) 'face)))

(ert-deftest openprose-tests-highlighting ()
  "What is told apart looks different, in strings of several lines too."
  (openprose-tests-with-program "# A \"comment\".
agent writer:
  model: sonnet
  prompt: \"\"\"
    A session is \"a word\" here.
    # {topic} is a variable.
  \"\"\"

let draft = session: writer
  prompt: \"On {topic}\" # for now
if **the draft is a session**:
  output text = true
"
    (font-lock-ensure)
    (dolist (expected '(("A \"comment" . font-lock-comment-face)
                        ("agent" . font-lock-keyword-face)
                        ("writer" . font-lock-type-face)
                        ("model" . font-lock-property-face)
                        ("A session" . font-lock-string-face)
                        ("a word" . font-lock-string-face)
                        ("topic" . (font-lock-variable-name-face font-lock-string-face))
                        ("draft" . font-lock-variable-name-face)
                        ("for now" . font-lock-comment-face)
                        ("the draft is" . font-lock-preprocessor-face)
                        ("true" . font-lock-constant-face)))
      (should (equal expected
                     (cons (car expected) (openprose-tests-face (car expected))))))))

(ert-deftest openprose-tests-indentation ()
  "Lines after a colon go in, and a clause goes back to its statement."
  (with-temp-buffer
    (openprose-mode)
    (dolist (line '("if **it is late**: # \"really\"" "session \"Sleep\""
                    "if **it is dark**:" "session \"Light\"" "else:"))
      (insert line)
      (indent-according-to-mode)
      (goto-char (point-max))
      (newline)
      (indent-according-to-mode))
    (should (equal (buffer-string) "if **it is late**: # \"really\"
  session \"Sleep\"
  if **it is dark**:
    session \"Light\"
  else:
    "))
    ;; Pressing TAB again moves the line out.
    (let ((this-command 'indent-for-tab-command) (last-command 'indent-for-tab-command))
      (openprose-indent-line)
      (should (= (current-indentation) 2))
      (openprose-indent-line)
      (should (= (current-indentation) 0))
      (openprose-indent-line)
      (should (= (current-indentation) 4)))))

(ert-deftest openprose-tests-text-is-not-indented ()
  "Lines of a string with three quotes stay as they are."
  (with-temp-buffer
    (openprose-mode)
    (insert "session \"\"\"\nFirst:\n      Second\n\"\"\"\nlet x = 1\n")
    (indent-region (point-min) (point-max))
    (should (string-match-p "\nFirst:\n      Second\n\"\"\"\nlet" (buffer-string)))))

(ert-deftest openprose-tests-server ()
  "The language server checks, explains, completes and corrects a program."
  (openprose-tests-with-program "agent writer:
  model: sonnet
let draft = session: writer
  prompt: \"On tides\"
session \"Print {draf}\"
"
    (let ((eglot-sync-connect t) (eglot-autoshutdown t) (eglot-events-buffer-config '(:size 0)))
      (apply #'eglot--connect (eglot--guess-contact))
      (should (equal (file-truename (project-root (project-current)))
                     (file-truename (file-name-as-directory folder))))
      (flymake-mode 1)
      (flymake-start)
      (let ((mistakes (openprose-tests-wait "diagnostics" (flymake-diagnostics))))
        (should (string-match-p "draf" (flymake-diagnostic-text (car mistakes)))))
      (goto-char (point-min))
      (search-forward "session: wri")
      (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover
                                    (eglot--TextDocumentPositionParams))))
        (should (string-match-p "agent writer" (format "%s" hover))))
      (let ((xref (car (xref-backend-definitions 'eglot "LSP identifier at point."))))
        (should (equal (xref-file-location-line (xref-item-location xref)) 1)))
      (search-forward "{dra")
      (let* ((capf (eglot-completion-at-point))
             (proposals (all-completions "" (nth 2 capf))))
        (should (member "draft" (mapcar #'substring-no-properties proposals))))
      (let* ((actions (eglot-code-actions (line-beginning-position) (line-end-position)))
             (fix (seq-find (lambda (action) (string-match-p "`draft`" (plist-get action :title)))
                            actions)))
        (should fix)
        (eglot-execute (eglot-current-server) fix))
      (should (string-match-p "{draft}" (buffer-string)))
      (eglot-format-buffer)
      (openprose-tests-wait "no diagnostics" (null (flymake-diagnostics)))
      (eglot-shutdown (eglot-current-server)))))

(ert-deftest openprose-tests-runs ()
  "A program runs in a buffer, asks there, and its errors lead to its lines."
  (openprose-tests-with-program "input topic: \"What about?\"
output reply = session \"Write about {topic}\"
"
    (let ((buffer (openprose-run)))
      (openprose-tests-wait "the question"
        (with-current-buffer buffer (string-match-p "What about\\?" (buffer-string))))
      (with-current-buffer buffer
        (goto-char (point-max))
        (insert "tides")
        (comint-send-input)
        (openprose-tests-wait "the result"
          (string-match-p "Completed: 1 session" (buffer-string)))))
    (let ((list (openprose-list-runs)))
      (openprose-tests-wait "the list"
        (with-current-buffer list (string-match-p "completed.*program\\.prose" (buffer-string)))))
    (goto-char (point-max))
    (insert "session \"Print {unknown}\"\n")
    (let ((buffer (openprose-run)))
      (openprose-tests-wait "the mistake"
        (with-current-buffer buffer (string-match-p "unknown" (buffer-string))))
      (openprose-tests-wait "the end" (null (get-buffer-process buffer)))
      (with-current-buffer buffer
        (goto-char (point-min))
        (compilation-next-error 1)
        (should (string-match-p "program\\.prose:3:" (thing-at-point 'line)))))))

(provide 'openprose-tests)

;;; openprose-tests.el ends here
