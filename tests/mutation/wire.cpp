#include "tests/mutation/wire.h"

#include <cstring>

namespace fusescope::mutation {
namespace {

/// Reads from the front of a view.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : m_left(bytes) {}
  bool atEnd() const { return m_left.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !m_left.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(m_left.front());
      m_left.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> take(std::uint64_t bytes) {
    if (bytes > m_left.size()) return std::nullopt;
    const auto taken = m_left.substr(0, bytes);
    m_left.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view m_left;
};

std::optional<WireField> fieldOf(Reader& reader) {
  const auto key = reader.varint();
  if (!key) return std::nullopt;
  WireField field{.number = static_cast<std::uint32_t>(*key >> 3), .type = static_cast<WireField::Type>(*key & 7U)};
  if (field.type == WireField::Varint) {
    const auto value = reader.varint();
    if (!value) return std::nullopt;
    field.scalar = *value;
    return field;
  }
  if (field.type == WireField::Bytes) {
    const auto length = reader.varint();
    const auto bytes = length ? reader.take(*length) : std::nullopt;
    if (!bytes) return std::nullopt;
    field.bytes = *bytes;
    return field;
  }
  if (field.type != WireField::Fixed32 && field.type != WireField::Fixed64) return std::nullopt;
  const auto bytes = reader.take(field.type == WireField::Fixed32 ? 4 : 8);
  if (!bytes) return std::nullopt;
  std::memcpy(&field.scalar, bytes->data(), bytes->size());
  return field;
}

void putVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

}  // namespace

std::optional<WireMessage> WireMessage::parse(std::string_view bytes) {
  WireMessage message;
  Reader reader(bytes);
  while (!reader.atEnd()) {
    auto field = fieldOf(reader);
    if (!field || field->number == 0) return std::nullopt;
    message.fields.push_back(std::move(*field));
  }
  return message;
}

std::string WireMessage::serialised() const {
  std::string out;
  for (const WireField& field : fields) {
    putVarint(out, std::uint64_t{field.number} << 3 | field.type);
    switch (field.type) {
      case WireField::Varint:
        putVarint(out, field.scalar);
        break;
      case WireField::Bytes:
        putVarint(out, field.bytes.size());
        out += field.bytes;
        break;
      case WireField::Fixed32:
      case WireField::Fixed64:
        out.append(reinterpret_cast<const char*>(&field.scalar), field.type == WireField::Fixed32 ? 4 : 8);
        break;
    }
  }
  return out;
}

std::vector<std::size_t> WireMessage::all(std::uint32_t number) const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].number == number) indices.push_back(i);
  return indices;
}

std::string WireMessage::text(std::uint32_t number) const {
  for (const WireField& field : fields)
    if (field.number == number) return field.bytes;
  return {};
}

WireField varintField(std::uint32_t number, std::uint64_t value) {
  return {.number = number, .type = WireField::Varint, .scalar = value, .bytes = {}};
}

WireField bytesField(std::uint32_t number, std::string bytes) {
  return {.number = number, .type = WireField::Bytes, .scalar = 0, .bytes = std::move(bytes)};
}

}  // namespace fusescope::mutation
