#include "cache/packing.h"

#include <zstd.h>

namespace fusescope {
namespace {

/// The fastest level that still reduces the answers of compilers to half of their size.
constexpr int kLevel = 3;

}  // namespace

Result<std::string> packed(std::string_view bytes) {
  std::string into(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(into.data(), into.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0)
    return Diagnostic{.message = std::string("cannot be packed: ") + ZSTD_getErrorName(size)};
  into.resize(size);
  return into;
}

Result<std::string> unpacked(std::string_view body, std::uint64_t size) {
  if (size > kMostUnpacked || ZSTD_getFrameContentSize(body.data(), body.size()) != size)
    return Diagnostic{.message = "cannot be unpacked: its length is wrong"};
  std::string bytes(size, '\0');
  const std::size_t count = ZSTD_decompress(bytes.data(), bytes.size(), body.data(), body.size());
  if (ZSTD_isError(count) != 0)
    return Diagnostic{.message = std::string("cannot be unpacked: ") + ZSTD_getErrorName(count)};
  if (count != size) return Diagnostic{.message = "cannot be unpacked: its length is wrong"};
  return bytes;
}

}  // namespace fusescope
