#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Reads the XML that OpenVINO writes, element by element: elements, attributes, text, the five entities and numbers of
/// characters; comments and processing instructions are skipped. Document types and sections of character data are
/// refused, since such files have none: no entity is defined, nothing else is opened. The text must outlive it.
class XmlReader {
 public:
  enum class Kind { Start, End, Text, Finished };
  struct Event {
    Kind kind = Kind::Finished;
    std::string_view name{};  ///< of the element that starts or ends
    std::vector<std::pair<std::string_view, std::string>> attributes{};
    std::string text{};  ///< without blanks around it; never empty

    /// Empty where there is no such attribute.
    std::string_view attribute(std::string_view key) const;
  };

  explicit XmlReader(std::string_view text) : m_text(text) {}

  /// The next event; it stays as it is until the next call. An element without content starts, then ends. Errors: not
  /// of that form, with the line; elements deeper than kMostDepth.
  Result<const Event*> next();
  /// The elements that are open, the outermost first: with Start, the new one among them; with End, without it.
  const std::vector<std::string_view>& path() const { return m_path; }

  static constexpr std::size_t kMostDepth = 32;

 private:
  Result<const Event*> fail(std::string message) const;
  Diagnostic errorHere(std::string message) const;
  bool skipTo(std::string_view end);
  void skipBlanks();
  std::string_view takeName();
  Result<std::string> unescaped(std::string_view raw) const;
  Status readAttributes();
  Result<const Event*> readStart();
  Result<const Event*> readEnd();
  const Event* end(std::string_view name);

  std::string_view m_text;
  std::size_t m_at = 0;
  std::vector<std::string_view> m_path;
  bool m_endsAtOnce = false;  ///< the element that started has no content
  bool m_hadRoot = false;
  Event m_event;
};

}  // namespace fusescope
