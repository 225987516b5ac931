# Installs the formula in a file from the archives in a folder, as Homebrew would on one system:
#
#   ruby formula.rb FORMULA ARCHIVES SYSTEM PROCESSOR PREFIX
#
# Homebrew itself is not a package that could be installed. This has the part of it that the formula uses, and fails at anything else.
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

FORMULA, ARCHIVES, SYSTEM, PROCESSOR, PREFIX = ARGV

class Pathname
  def install(*sources)
    mkpath
    sources.flatten.flat_map { |source| source.is_a?(Hash) ? source.to_a : [[source, File.basename(source)]] }.each do |from, name|
      raise "#{from} is not in the archive" unless File.file?(from)
      FileUtils.cp(from, self + name)
    end
  end
end

class Formula
  FACTS = {}
  %i[desc homepage version license url sha256].each do |name|
    define_singleton_method(name) do |value|
      raise "#{name} is set twice" if FACTS.key?(name)
      FACTS[name] = value
    end
  end
  { "macos" => SYSTEM, "linux" => SYSTEM, "intel" => PROCESSOR, "arm" => PROCESSOR }.each do |name, current|
    define_singleton_method("on_#{name}") { |&block| block.call if name == current }
  end
  def self.test; end

  def share(name) = Pathname.new(PREFIX) + name
  def bin = share("bin")
  def man1 = share("share/man/man1")
  def doc = share("share/doc/prose")
  def bash_completion = share("etc/bash_completion.d")
  def zsh_completion = share("share/zsh/site-functions")
  def fish_completion = share("share/fish/vendor_completions.d")
end

load FORMULA
facts = Formula::FACTS
raise "a fact is missing: #{facts}" if facts.size != 6
archive = File.join(ARCHIVES, File.basename(facts[:url]))
raise "the hash of #{archive} differs" if Digest::SHA256.file(archive).hexdigest != facts[:sha256]
Dir.mktmpdir do |folder|
  # Homebrew installs inside of the only folder of an archive.
  raise "#{archive} cannot be unpacked" unless system("tar", "-xzf", archive, "-C", folder)
  entries = Dir.children(folder)
  raise "the archive has #{entries}" if entries.size != 1
  Dir.chdir(File.join(folder, entries.first)) { Prose.new.install }
end
puts facts[:url]
