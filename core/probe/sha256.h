#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/stop.h"

namespace fusescope {

/// SHA-256 (FIPS 180-4), which identifies files on both sides of a connection, because every Python has it.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// Returns 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string hex();

 private:
  void block(const unsigned char* bytes);

  std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> m_held{};  ///< the bytes of an incomplete block
  std::uint64_t m_bytes = 0;
};

/// Returns the hash of a text: 64 lower-case hexadecimal digits.
std::string sha256OfText(std::string_view text);
/// Returns the hash of the content of a file. Errors: it cannot be read; cancelled.
Result<std::string> sha256OfFile(const std::filesystem::path& path, const StopToken& stop);

}  // namespace fusescope
