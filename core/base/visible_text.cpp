#include "base/visible_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusescope {

namespace {

bool isControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

/// Returns the number of bytes of the control character with which `text` begins (those above 0x7f have two in UTF-8),
/// or 0 if there is none.
std::size_t controlAt(std::string_view text) {
  if (isControl(text[0])) return 1;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  return text.size() > 1 && byte(0) == 0xc2 && byte(1) < 0xa0 ? 2 : 0;
}

std::string readable(std::string_view control) {
  switch (control[0]) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\u{:04x}", static_cast<unsigned char>(control.back()));
  }
}

}  // namespace

std::string visibleText(std::string_view text) {
  std::string visible;
  while (!text.empty()) {
    const std::size_t control = controlAt(text);
    if (control > 0)
      visible += readable(text.substr(0, control));
    else
      visible += text.front();
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
  return visible;
}

bool VisibleBuffer::put(std::string_view text) {
  return m_to.sputn(text.data(), static_cast<std::streamsize>(text.size())) ==
         static_cast<std::streamsize>(text.size());
}

VisibleBuffer::int_type VisibleBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize VisibleBuffer::xsputn(const char* text, std::streamsize size) {
  std::string_view rest(text, static_cast<std::size_t>(size));
  std::size_t plain = 0;
  while (plain < rest.size()) {
    const std::string_view behind = rest.substr(plain);
    const std::size_t control = controlAt(behind);
    if (control == 0 || behind[0] == '\n' || behind[0] == '\t') {
      ++plain;
      continue;
    }
    const auto own = std::ranges::find_if(m_asIs, [&](std::string_view each) { return behind.starts_with(each); });
    if (own != m_asIs.end()) {
      plain += own->size();
      continue;
    }
    if (!put(rest.substr(0, plain)) || !put(readable(behind.substr(0, control)))) return 0;
    rest.remove_prefix(plain + control);
    plain = 0;
  }
  return put(rest) ? size : 0;
}

}  // namespace fusescope
