#include "base/zip_records.h"

namespace fusescope::zip {

std::uint64_t Bytes::number(std::uint64_t at, int count) const {
  std::uint64_t number = 0;
  if (!has(at, static_cast<std::uint64_t>(count))) return 0;
  for (int i = count; i-- > 0;) number = number << 8 | static_cast<std::uint8_t>(m_text[at + std::uint64_t(i)]);
  return number;
}

std::string_view Bytes::text(std::uint64_t at, std::uint64_t count) const {
  return has(at, count) ? m_text.substr(at, count) : std::string_view();
}

EntryNumbers entryNumbers(const Bytes& archive, std::uint64_t at) {
  EntryNumbers numbers{
      .bytes = archive.number(at + 24, 4), .packed = archive.number(at + 20, 4), .header = archive.number(at + 42, 4)};
  std::uint64_t field = at + kCentralSize + archive.number(at + 28, 2);
  const std::uint64_t end = field + archive.number(at + 30, 2);
  while (field + 4 <= end) {
    const std::uint64_t length = archive.number(field + 2, 2);
    if (archive.number(field, 2) == 1) {
      std::uint64_t next = field + 4;
      for (std::uint64_t* number : {&numbers.bytes, &numbers.packed, &numbers.header}) {
        if (*number != kIn64) continue;
        *number = next + 8 <= field + 4 + length ? archive.number(next, 8) : kIn64;
        next += 8;
      }
    }
    field += 4 + length;
  }
  return numbers;
}

std::uint64_t contentOf(const Bytes& archive, std::uint64_t header) {
  return header + kLocalSize + archive.number(header + 26, 2) + archive.number(header + 28, 2);
}

}  // namespace fusescope::zip
