;;; openprose-mode.el --- Write and run OpenProse programs  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A major mode for `.prose' files with highlighting, indentation and
;; commands that run programs, and the settings of the language server
;; `prose lsp' for Eglot, which is part of Emacs since version 29.
;;
;; To start the server with each program:
;;
;;   (add-hook 'openprose-mode-hook #'eglot-ensure)

;;; Code:

(require 'compile)
(require 'project)

(defgroup openprose nil
  "Write and run OpenProse programs."
  :group 'languages
  :prefix "openprose-")

(defcustom openprose-program "prose"
  "The program `prose', by its name on the search path or its file."
  :type 'string)

(defcustom openprose-trust-all-projects nil
  "Whether programs may start agents in every project that is opened.
Otherwise they start in projects that `openprose-trust' trusts."
  :type 'boolean)

(defcustom openprose-indent-offset 2
  "By how many columns the lines after a colon are indented."
  :type 'natnum
  :safe #'natnump)

;;;; Highlighting

(defconst openprose-keywords
  '("use" "as" "import" "from" "input" "output" "agent" "block" "let" "const"
    "session" "resume" "do" "parallel" "repeat" "for" "in" "loop" "until"
    "while" "try" "catch" "finally" "throw" "choice" "option" "if" "elif"
    "else" "return" "break" "continue" "assert" "map" "filter" "pmap" "reduce"
    "and" "or" "not" "is")
  "The keywords, except for those that are values.")

(defconst openprose-values '("true" "false" "null")
  "The keywords that are values.")

(defconst openprose-properties
  '("model" "prompt" "context" "skills" "permissions" "persist" "retry"
    "backoff" "timeout" "early_exit"
    "read" "write" "execute" "bash" "network" "mcp")
  "The properties of agents and sessions, and the permissions.")

(defvar openprose-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?- "_" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?* "." table)
    (modify-syntax-entry ?' "." table)
    table)
  "The syntax of OpenProse.")

(defun openprose--mark-triple-quote ()
  "Mark the three quotes before point as the start or the end of a string."
  (let* ((start (match-beginning 0))
         (state (save-excursion (syntax-ppss start)))
         (opened (nth 8 state)))
    (cond
     ((nth 4 state))
     ((eq (nth 3 state) t)
      ;; The last quote ends the string, unless it is escaped.
      (unless (eq (char-before start) ?\\)
        (put-text-property (1- (point)) (point)
                           'syntax-table (string-to-syntax "|"))))
     ((null opened)
      (put-text-property start (1+ start)
                         'syntax-table (string-to-syntax "|"))))))

(defconst openprose--syntax-propertize
  (syntax-propertize-rules
   ("\"\"\"" (0 (ignore (openprose--mark-triple-quote)))))
  "Finds the strings with three quotes, which may have several lines.")

(defun openprose--in-code-p (position)
  "Whether POSITION is outside of strings and comments."
  (not (nth 8 (save-excursion (syntax-ppss position)))))

(defun openprose--find-variable (limit)
  "Find the next `{name}' in a string before LIMIT."
  (let (found)
    (while (and (not found)
                (re-search-forward
                 (rx "{" (group alpha (* (any alnum "_.-"))) "}") limit t))
      (setq found (save-excursion
                    (save-match-data
                      (nth 3 (syntax-ppss (match-beginning 0)))))))
    found))

(defun openprose--find-condition (limit)
  "Find the next `**condition**' before LIMIT."
  (let (found)
    (while (and (not found)
                (re-search-forward
                 (rx (or (seq "***" (+? anything) "***")
                         (seq "**" (+? (not (any "\n*"))) "**")))
                 limit t))
      (setq found (save-match-data
                    (openprose--in-code-p (match-beginning 0)))))
    found))

(defconst openprose-font-lock-keywords
  `((openprose--find-condition 0 'font-lock-preprocessor-face t)
    (openprose--find-variable 1 'font-lock-variable-name-face prepend)
    (,(rx line-start (* blank) "agent" (+ blank)
          (group (+ (or (syntax word) (syntax symbol)))))
     1 'font-lock-type-face)
    (,(rx line-start (* blank) "block" (+ blank)
          (group (+ (or (syntax word) (syntax symbol)))))
     1 'font-lock-function-name-face)
    (,(rx symbol-start (or "session" "resume") (* blank) ":" (+ blank)
          (group (+ (or (syntax word) (syntax symbol)))))
     1 'font-lock-type-face)
    (,(rx symbol-start "do" (+ blank)
          (group (+ (or (syntax word) (syntax symbol)))))
     1 'font-lock-function-name-face)
    (,(rx line-start (* blank) (or "let" "const" "input" "output") (+ blank)
          (group (+ (or (syntax word) (syntax symbol)))) (* blank) (any ":="))
     1 'font-lock-variable-name-face)
    (,(concat (rx line-start (+ blank)) (regexp-opt openprose-properties t)
              (rx (* blank) ":"))
     1 'font-lock-property-face)
    (,(regexp-opt openprose-values 'symbols) 0 'font-lock-constant-face)
    (,(regexp-opt openprose-keywords 'symbols) 0 'font-lock-keyword-face))
  "The rules for what is highlighted.")

;; Emacs 28 has no face for properties.
(unless (facep 'font-lock-property-face)
  (copy-face 'font-lock-variable-name-face 'font-lock-property-face))

;;;; Indentation

(defun openprose--opens-block-p ()
  "Whether the current line ends with a colon that opens a block."
  (save-excursion
    (end-of-line)
    (let ((state (syntax-ppss)))
      (when (nth 4 state)
        (goto-char (nth 8 state)))
      (and (not (nth 3 state))
           (progn (skip-chars-backward " \t") (eq (char-before) ?:))))))

(defun openprose--partner-indentation (pattern)
  "The indentation of the line above that PATTERN matches.
It is that of the statement which a line such as `else:' goes on with."
  (save-excursion
    (let ((limit (current-indentation)) found)
      (while (and (not found) (zerop (forward-line -1)))
        (unless (looking-at-p (rx (* blank) (or "\n" "#" string-end)))
          (let ((indentation (current-indentation)))
            (when (and (<= indentation limit) (looking-at-p pattern))
              (setq found indentation))
            (setq limit (min limit indentation)))))
      found)))

(defun openprose--indentation ()
  "The indentation of the current line."
  (save-excursion
    (beginning-of-line)
    (or (and (looking-at-p (rx (* blank) (or "elif" "else") symbol-end))
             (openprose--partner-indentation
              (rx (* blank) (or "if" "elif") symbol-end)))
        (and (looking-at-p (rx (* blank) (or "catch" "finally") symbol-end))
             (openprose--partner-indentation
              (rx (* blank) (? "let" (+ blank) (+ nonl) "=" (+ blank))
                  (or "try" "catch") symbol-end)))
        (let ((found nil))
          (while (and (not found) (zerop (forward-line -1)))
            (setq found (not (looking-at-p (rx (* blank) line-end)))))
          (cond
           ((not found) 0)
           ((openprose--opens-block-p)
            (+ (current-indentation) openprose-indent-offset))
           (t (current-indentation)))))))

(defun openprose-indent-line ()
  "Indent the current line.
How deep a statement is nested is up to the author: pressing TAB again
moves the line out by one level, and from the margin in again."
  (interactive)
  (unless (nth 3 (save-excursion (syntax-ppss (line-beginning-position))))
    (let* ((most (openprose--indentation))
           (now (current-indentation))
           (is-repeated (and (eq this-command 'indent-for-tab-command)
                             (eq last-command this-command)))
           (target (cond
                    ((not is-repeated) most)
                    ((> now 0)
                     (* openprose-indent-offset
                        (/ (1- now) openprose-indent-offset)))
                    (t most)))
           (distance (- (point-max) (point))))
      (indent-line-to target)
      (when (> (- (point-max) distance) (point))
        (goto-char (- (point-max) distance))))))

;;;; Projects and the language server

(defun openprose-project (folder)
  "The project of FOLDER: the nearest folder above with a `prose.toml'."
  (let ((root (locate-dominating-file folder "prose.toml")))
    (and root (cons 'transient (expand-file-name root)))))

(defun openprose--root ()
  "The folder that programs are run in.
It is that of the nearest `prose.toml', or else that of the program."
  (let ((project (openprose-project default-directory)))
    (if project (cdr project) default-directory)))

(defun openprose-server (&rest _)
  "The command of the language server and its options, for Eglot."
  (list openprose-program "lsp"
        :initializationOptions
        (if openprose-trust-all-projects '(:trusted t) '(:trusted :json-false))))

(put 'openprose-mode 'eglot-language-id "prose")
(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(openprose-mode . openprose-server)))

;;;; Commands

(defconst openprose--error-location
  `(openprose ,(rx line-start (* blank) "--> "
                   (group (+? nonl)) ":" (group (+ digit)) ":" (group (+ digit))
                   line-end)
              1 2 3)
  "Where an error is, as `prose' prints it.")

(defun openprose--start (name &rest arguments)
  "Run `prose' with ARGUMENTS and show its output in the buffer NAME.
Questions of the program are answered there."
  (let* ((default-directory (openprose--root))
         (command (mapconcat #'shell-quote-argument
                             (cons openprose-program arguments) " "))
         (buffer (compilation-start command t (lambda (_) name))))
    (with-current-buffer buffer
      (setq-local compilation-error-regexp-alist-alist
                  (list openprose--error-location))
      (setq-local compilation-error-regexp-alist '(openprose)))
    buffer))

(defun openprose--file ()
  "The file of the current program, saved."
  (unless buffer-file-name
    (user-error "Save the program first; `prose' runs files"))
  (when (buffer-modified-p)
    (save-buffer))
  (file-relative-name buffer-file-name (openprose--root)))

(defun openprose-run ()
  "Run the program in a buffer, where its questions are answered."
  (interactive)
  (openprose--start "*OpenProse run*" "run" (openprose--file)))

(defun openprose-dry-run ()
  "Show what each session would be asked, without starting an agent."
  (interactive)
  (openprose--start "*OpenProse dry run*" "run" "--dry-run" (openprose--file)))

(defun openprose-resume ()
  "Resume the last run of the project."
  (interactive)
  (openprose--start "*OpenProse run*" "resume"))

(defun openprose-check ()
  "List the errors and warnings of all programs of the project."
  (interactive)
  (openprose--start "*OpenProse check*" "check"))

(defun openprose-list-runs ()
  "List what has run in the project."
  (interactive)
  (openprose--start "*OpenProse runs*" "runs" "list"))

(defun openprose-describe ()
  "Describe the program: its inputs, agents, rights and most sessions."
  (interactive)
  (openprose--start "*OpenProse description*" "describe" (openprose--file)))

(defun openprose-trust ()
  "Trust the project, so that its programs may start agents."
  (interactive)
  (let ((root (openprose--root)))
    (when (yes-or-no-p
           (format "Let programs in %s start agents with its settings? "
                   (abbreviate-file-name root)))
      (openprose--start "*OpenProse trust*" "trust" (expand-file-name root)))))

(defvar openprose-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'openprose-run)
    (define-key map (kbd "C-c C-d") #'openprose-dry-run)
    (define-key map (kbd "C-c C-r") #'openprose-resume)
    (define-key map (kbd "C-c C-l") #'openprose-list-runs)
    (define-key map (kbd "C-c C-e") #'openprose-describe)
    map)
  "The keys of `openprose-mode'.")

;;;###autoload
(define-derived-mode openprose-mode prog-mode "OpenProse"
  "Major mode for OpenProse programs.

\\{openprose-mode-map}"
  (setq-local comment-start "# ")
  (setq-local comment-start-skip (rx (+ "#") (* blank)))
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width openprose-indent-offset)
  (setq-local indent-line-function #'openprose-indent-line)
  (setq-local electric-indent-chars
              (append '(?:) (and (boundp 'electric-indent-chars)
                                 electric-indent-chars)))
  (setq-local syntax-propertize-function openprose--syntax-propertize)
  (setq-local font-lock-defaults '(openprose-font-lock-keywords))
  (setq-local font-lock-multiline t)
  (setq-local imenu-generic-expression
              `(("Agents" ,(rx line-start "agent" (+ blank)
                               (group (+ (not (any ": \n"))))) 1)
                ("Blocks" ,(rx line-start "block" (+ blank)
                               (group (+ (not (any "(: \n"))))) 1)))
  (add-hook 'project-find-functions #'openprose-project nil t))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.prose\\'" . openprose-mode))

(provide 'openprose-mode)

;;; openprose-mode.el ends here
