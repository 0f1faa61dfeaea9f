#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// A member to be written into an archive, without compression.
struct ZipAddition {
  std::string name;
  std::string content;
};

/// A changed archive: it consists of `kept`, the beginning of the original archive, followed by `added`.
struct ZipUpdate {
  std::span<const std::byte> kept;
  std::string added;
};

/// Returns `archive` with `additions`; each is added, or replaces the member of the same name. All other members stay
/// byte for byte where they are, including headers and padding, so that alignments are preserved. If other members lie
/// behind a member that is replaced, its bytes remain in the file, but the directory does not list it any more. The
/// content of each addition begins at a multiple of 64 bytes. The result refers to the memory of `archive`. It is an
/// error if the archive has no complete directory at its end, or if it is split into several files.
Result<ZipUpdate> updatedZip(std::span<const std::byte> archive, const std::vector<ZipAddition>& additions);

}  // namespace fusescope
