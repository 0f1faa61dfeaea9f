#include "probe/command_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace fusescope {
namespace {

Diagnostic badCommand(std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.attribute = "command"}, .help = std::move(help)};
}

/// Splits a command into words, character by character. A word exists as soon as any part of it was read, even if this
/// is only an empty quotation.
class WordReader {
 public:
  explicit WordReader(std::string_view command) : m_rest(command) {}

  Result<std::vector<std::string>> read() {
    while (!m_rest.empty()) {
      const char c = take();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        finishWord();
      } else if (c == '\'' || c == '"') {
        TRY(quotation(c));
      } else if (c == '\\') {
        if (m_rest.empty()) return badCommand("the command ends with a backslash, behind which a character is missing");
        append(take());
      } else if (isForShells(c)) {
        return badCommand(fmt::format("'{}' has a meaning in a shell, but no shell runs this command", c),
                          "Quote it, or let a shell run the command: sh -c '…; exec python3 \"$@\"' sh");
      } else if (c == '~' && !m_word && (m_rest.empty() || m_rest[0] == '/' || m_rest[0] == ' ')) {
        const char* home = std::getenv("HOME");
        m_word = home != nullptr ? home : "~";
      } else {
        append(c);
      }
    }
    finishWord();
    if (m_words.empty())
      return badCommand("the command is empty", "Give a command that starts Python, such as python3.");
    return std::move(m_words);
  }

 private:
  static bool isForShells(char c) { return std::string_view("|&;<>()$`").find(c) != std::string_view::npos; }
  char take() {
    const char c = m_rest.front();
    m_rest.remove_prefix(1);
    return c;
  }
  void append(char c) {
    if (!m_word) m_word.emplace();
    m_word->push_back(c);
  }
  void finishWord() {
    if (m_word) m_words.push_back(std::move(*m_word));
    m_word.reset();
  }
  Status quotation(char quote) {
    if (!m_word) m_word.emplace();
    while (!m_rest.empty()) {
      char c = take();
      if (c == quote) return Done{};
      const bool escapes = quote == '"' && c == '\\' && !m_rest.empty() &&
                           (m_rest[0] == '"' || m_rest[0] == '\\' || m_rest[0] == '$' || m_rest[0] == '`');
      m_word->push_back(escapes ? take() : c);
    }
    return badCommand(fmt::format("the quotation mark {} is not closed", quote));
  }

  std::string_view m_rest;
  std::optional<std::string> m_word;
  std::vector<std::string> m_words;
};

}  // namespace

Result<std::vector<std::string>> commandWords(std::string_view command) {
  if (command.find('\0') != std::string_view::npos) return badCommand("the command contains a NUL character");
  return WordReader(command).read();
}

std::filesystem::path programOf(std::string_view command) {
  const auto words = commandWords(command);
  if (!words.ok() || words.value().size() != 1) return {};
  namespace fs = std::filesystem;
  std::error_code failed;
  const std::string& word = words.value().front();
  std::vector<fs::path> candidates;
  if (word.find('/') != std::string::npos) {
    candidates.emplace_back(word);
  } else {
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path != nullptr ? path : "", ':'))
      if (!folder.empty()) candidates.push_back(fs::path(folder) / word);
  }
  for (const fs::path& candidate : candidates)
    if (fs::is_regular_file(candidate, failed) && ::access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate, failed);
  return {};
}

}  // namespace fusescope
