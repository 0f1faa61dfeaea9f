#include "compilers/openvino/xml_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/trimmed.h"
#include "base/utf8.h"

namespace fusescope {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':';
}

/// Returns the character that an entity represents, as UTF-8; empty if there is no such entity.
std::string entity(std::string_view name) {
  if (name == "lt") return "<";
  if (name == "gt") return ">";
  if (name == "amp") return "&";
  if (name == "quot") return "\"";
  if (name == "apos") return "'";
  if (!name.starts_with('#')) return {};
  const bool isHex = name.starts_with("#x");
  const std::string_view digits = name.substr(isHex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, isHex ? 16 : 10);
  if (error != std::errc() || stop != digits.data() + digits.size() || !isUnicodeCharacter(code)) return {};
  std::string text;
  appendUtf8(text, code);
  return text;
}

}  // namespace

std::string_view XmlReader::Event::attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes)
    if (name == key) return value;
  return {};
}

Diagnostic XmlReader::errorHere(std::string message) const {
  const auto line = 1 + std::ranges::count(m_text.substr(0, m_at), '\n');
  return {.message = fmt::format("line {}: {}", line, message), .where = {}};
}

Result<const XmlReader::Event*> XmlReader::fail(std::string message) const {
  return errorHere(std::move(message));
}

bool XmlReader::skipTo(std::string_view end) {
  const auto found = m_text.find(end, m_at);
  if (found == std::string_view::npos) return false;
  m_at = found + end.size();
  return true;
}

void XmlReader::skipBlanks() {
  m_at = std::min(m_text.find_first_not_of(kBlanks, m_at), m_text.size());
}

std::string_view XmlReader::takeName() {
  const std::size_t from = m_at;
  while (m_at < m_text.size() && isNameCharacter(m_text[m_at])) ++m_at;
  return m_text.substr(from, m_at - from);
}

Result<std::string> XmlReader::unescaped(std::string_view raw) const {
  std::string text;
  while (true) {
    const auto found = raw.find('&');
    text += raw.substr(0, found);
    if (found == std::string_view::npos) return text;
    const auto stop = raw.find(';', found);
    const std::string meant = stop == std::string_view::npos ? "" : entity(raw.substr(found + 1, stop - found - 1));
    if (meant.empty()) return errorHere("this entity does not exist in XML");
    text += meant;
    raw.remove_prefix(stop + 1);
  }
}

Result<const XmlReader::Event*> XmlReader::next() {
  if (m_endsAtOnce) {
    m_endsAtOnce = false;
    return end(m_path.back());
  }
  while (true) {
    const auto open = std::min(m_text.find('<', m_at), m_text.size());
    const std::string_view between = trimmed(m_text.substr(m_at, open - m_at));
    if (!between.empty()) {
      if (m_path.empty()) return fail("there is text outside all elements");
      m_event = {.kind = Kind::Text, .text = TRY(unescaped(between))};
      m_at = open;
      return &m_event;
    }
    m_at = open;
    const std::string_view rest = m_text.substr(m_at);
    if (rest.empty()) {
      if (!m_path.empty() || !m_hadRoot) return fail("the file ends before its last element does");
      m_event = {};
      return &m_event;
    }
    if (rest.starts_with("<?") || rest.starts_with("<!--")) {
      if (!skipTo(rest.starts_with("<?") ? "?>" : "-->")) return fail("the file ends within a comment");
    } else if (rest.starts_with("<!")) {
      return fail("there is a declaration, which a file of OpenVINO does not contain");
    } else {
      return rest.starts_with("</") ? readEnd() : readStart();
    }
  }
}

Status XmlReader::readAttributes() {
  while (true) {
    const std::size_t before = m_at;
    skipBlanks();
    if (m_at < m_text.size() && (m_text[m_at] == '>' || m_text[m_at] == '/')) return Done{};
    if (m_at == before) return errorHere("a blank is missing before an attribute");
    const std::string_view key = takeName();
    skipBlanks();
    if (key.empty() || m_at >= m_text.size() || m_text[m_at] != '=') return errorHere("this is not an attribute");
    ++m_at;
    skipBlanks();
    const char quote = m_at < m_text.size() ? m_text[m_at] : ' ';
    if (quote != '"' && quote != '\'') return errorHere("the value of an attribute has no quotation marks");
    const auto stop = m_text.find(quote, m_at + 1);
    if (stop == std::string_view::npos) return errorHere("the file ends within an attribute");
    m_event.attributes.emplace_back(key, TRY(unescaped(m_text.substr(m_at + 1, stop - m_at - 1))));
    m_at = stop + 1;
  }
}

Result<const XmlReader::Event*> XmlReader::readStart() {
  if (m_path.empty() && m_hadRoot) return fail("there is a second outermost element");
  if (m_path.size() == kMostDepth) return fail(fmt::format("elements are nested more than {} deep", kMostDepth));
  ++m_at;
  const std::string_view name = takeName();
  if (name.empty()) return fail("this is not an element");
  m_event = {.kind = Kind::Start, .name = name};
  TRY(readAttributes());
  m_endsAtOnce = m_text[m_at] == '/';
  if (m_endsAtOnce && m_text.substr(m_at, 2) != "/>") return fail("the element does not end with />");
  m_at += m_endsAtOnce ? 2 : 1;
  m_path.push_back(name);
  m_hadRoot = true;
  return &m_event;
}

Result<const XmlReader::Event*> XmlReader::readEnd() {
  m_at += 2;
  const std::string_view name = takeName();
  skipBlanks();
  if (m_path.empty() || name != m_path.back() || m_at >= m_text.size() || m_text[m_at] != '>')
    return fail("this is the end of an element that did not start");
  ++m_at;
  return end(name);
}

const XmlReader::Event* XmlReader::end(std::string_view name) {
  m_path.pop_back();
  m_event = {.kind = Kind::End, .name = name};
  return &m_event;
}

}  // namespace fusescope
