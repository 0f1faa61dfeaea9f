#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fusescope {

/// Returns whether `bytes` begin with the signature of a zip entry.
bool isZip(std::span<const std::byte> bytes);

/// Where the content of an entry lies in a zip archive.
struct ZipPlace {
  std::string name;
  bool isStored = false;              ///< it is neither compressed nor encrypted, and its bytes are all in the archive
  std::size_t offset = 0, bytes = 0;  ///< where its content is, if isStored
};

/// Returns the entries in the order of the archive's directory. If the archive is damaged, or its directory is not at
/// its end, only the entries that could be read are returned, which may be none. A caller that needs a missing entry
/// unpacks it with ZipReader.
std::vector<ZipPlace> zipPlaces(std::span<const std::byte> archive);

}  // namespace fusescope
