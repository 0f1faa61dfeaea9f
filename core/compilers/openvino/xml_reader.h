#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Reads the XML that OpenVINO writes, element by element: elements, attributes, text, the five entities and character
/// references; comments and processing instructions are skipped. Document types and CDATA sections are refused, because
/// these files have none; so no entity is defined and no other file is opened. The text must outlive the reader.
class XmlReader {
 public:
  enum class Kind { Start, End, Text, Finished };
  struct Event {
    Kind kind = Kind::Finished;
    std::string_view name{};  ///< the name of the element that starts or ends
    std::vector<std::pair<std::string_view, std::string>> attributes{};
    std::string text{};  ///< without blanks at both ends; never empty

    /// Returns an attribute; empty if there is none of this name.
    std::string_view attribute(std::string_view key) const;
  };

  explicit XmlReader(std::string_view text) : m_text(text) {}

  /// Returns the next event, which is valid until the next call. An element without content gives a Start and an End.
  /// Errors: the text has another form (with the line), or elements are nested deeper than kMostDepth.
  Result<const Event*> next();
  /// Returns the open elements, the outermost first. At a Start the new element is included, at an End it is not.
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
