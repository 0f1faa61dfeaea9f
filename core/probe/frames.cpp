#include "probe/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fusescope {
namespace {

Diagnostic garbled(std::string_view what, std::string_view shown) {
  std::string text;
  for (const char c : shown.substr(0, 80)) text.push_back(c >= ' ' && c < '\x7f' ? c : '?');
  return {.message = fmt::format("sent data that does not follow its protocol ({}): \"{}\"", what, text)};
}

}  // namespace

std::string textOf(const Json& object, const char* key) {
  const auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : std::string();
}

std::uint64_t countOf(const Json& object, const char* key) {
  const auto field = object.find(key);
  if (field == object.end() || !field->is_number_integer()) return 0;
  if (field->is_number_unsigned()) return field->get<std::uint64_t>();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, field->get<std::int64_t>()));
}

std::string toBytes(const Json& header, std::string_view payload) {
  Json line = header;
  if (!payload.empty()) line["bytes"] = payload.size();
  std::string bytes = line.dump(-1, ' ', false, Json::error_handler_t::replace);
  bytes += '\n';
  bytes += payload;
  return bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (!m_header) {
    const std::size_t end = m_held.find('\n', m_taken + m_searched);
    const std::string_view line =
        std::string_view(m_held).substr(m_taken, end == std::string::npos ? end : end - m_taken);
    if (line.size() > kMostLine) return garbled("a line is too long", line);
    if (end == std::string::npos) {
      m_searched = line.size();
      m_held.erase(0, std::exchange(m_taken, 0));
      return std::optional<Frame>{};
    }
    Json header = Json::parse(line, nullptr, false);
    if (!header.is_object()) return garbled("a line is not a JSON object", line);
    m_taken = end + 1;
    m_searched = 0;
    m_header = std::move(header);
  }
  std::size_t bytes = 0;
  if (const auto field = m_header->find("bytes"); field != m_header->end()) {
    if (!field->is_number_unsigned() || field->get<std::uint64_t>() > kMostPiece)
      return garbled("a line announces too many bytes", m_header->dump(-1, ' ', true, Json::error_handler_t::replace));
    bytes = field->get<std::size_t>();
  }
  if (m_held.size() - m_taken < bytes) return std::optional<Frame>{};
  Frame frame{.header = std::move(*m_header), .payload = m_held.substr(m_taken, bytes)};
  m_taken += bytes;
  m_header.reset();
  return std::optional<Frame>(std::move(frame));
}

}  // namespace fusescope
