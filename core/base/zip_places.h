#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fusescope {

/// Whether `bytes` begin with the signature of an entry of a zip archive.
bool isZip(std::span<const std::byte> bytes);

/// Where an entry of a zip archive lies in it.
struct ZipPlace {
  std::string name;
  bool isStored = false;  ///< it is neither compressed nor encrypted, and all of its bytes are in the archive
  std::size_t offset = 0, bytes = 0;  ///< of its content, where it is stored
};

/// The entries in the order of the archive's directory. An archive that is damaged or whose directory is not at its end
/// gives those that could be read, which may be none: whoever needs an entry all the same unpacks it.
std::vector<ZipPlace> zipPlaces(std::span<const std::byte> archive);

}  // namespace fusescope
