#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// A member that an archive is to have. It is stored without compression.
struct ZipAddition {
  std::string name;
  std::string content;
};

/// An archive that differs from another in a few members: `kept`, the beginning of the other, and `added` behind it.
struct ZipUpdate {
  std::span<const std::byte> kept;
  std::string added;
};

/// `archive` with each of `additions` added, or in the place of the member of its name. All other members stay byte for
/// byte where they are, headers and padding included, so that what is aligned stays so; the bytes of a member that is
/// replaced remain in the file where others lie behind them, and no directory names them. What is added begins at a
/// multiple of 64 bytes. The result is a view of `archive`. Errors: it is no archive whose directory is at its end and
/// whole, or it is parted over several files.
Result<ZipUpdate> updatedZip(std::span<const std::byte> archive, const std::vector<ZipAddition>& additions);

}  // namespace fusescope
