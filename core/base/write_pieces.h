#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace fusescope {

class MappedFile;

/// Writes `pieces` one after another into `to`, an empty file that is open for writing; `path` is its name in errors.
/// Long pieces that lie in one of `sources` are read from that file in parts and not through its mapping, so that they
/// are not in memory afterwards. Large files are written by two threads, which have ended when it returns. Nothing is
/// flushed to disk. After an error the file holds anything.
Status writePieces(int to, const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                   std::span<const std::shared_ptr<const MappedFile>> sources);

}  // namespace fusescope
