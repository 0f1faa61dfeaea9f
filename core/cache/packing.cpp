#include "cache/packing.h"

#include <zstd.h>

#include <cstddef>

namespace fusescope {
namespace {

/// The fastest level that still reduces the answers of compilers to half of their size.
constexpr int kLevel = 3;
/// A level that finds repetitions only and leaves other bytes as they are, so that reading them is copying them.
constexpr int kLevelOfDenseBytes = -10;
/// Samples of this many bytes, that many of them evenly from large entries, show whether the bytes are dense, such as
/// weights: a sample then shrinks to no less than this share.
constexpr std::size_t kSample = 64 << 10, kSamples = 8;
constexpr double kShareOfDense = 0.7;

std::size_t packedSize(std::string_view bytes) {
  std::string into(ZSTD_compressBound(bytes.size()), '\0');
  return ZSTD_compress(into.data(), into.size(), bytes.data(), bytes.size(), kLevel);
}

bool isDense(std::string_view bytes) {
  if (bytes.size() < kSamples * kSample * 2) return false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kSamples; ++i)
    size += packedSize(bytes.substr((bytes.size() - kSample) / (kSamples - 1) * i, kSample));
  return static_cast<double>(size) > kShareOfDense * kSamples * kSample;
}

}  // namespace

Result<std::string> packed(std::string_view bytes) {
  std::string into(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(into.data(), into.size(), bytes.data(), bytes.size(),
                                         isDense(bytes) ? kLevelOfDenseBytes : kLevel);
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
