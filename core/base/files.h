#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

class MappedFile;

/// Errors: it cannot be read, or changed meanwhile.
Result<std::string> readTextFile(const std::filesystem::path& path);

/// Whether `path` can be written as far as one can tell: for asking before work that takes long.
Status checkWritable(const std::filesystem::path& path);

/// Writes beside `path` and renames: at every moment `path` is either as it was or whole. Flushed to disk. It keeps its
/// rights; a link stays one, and what it leads to is replaced; a device or a pipe is written to as it is.
Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::filesystem::path& path, std::string_view text);
/// The same, where `write` makes the file beside `path` that it is given: an empty one, which it may replace.
Status writeFileAtomically(const std::filesystem::path& path,
                           const std::function<Status(const std::filesystem::path& temporary)>& write);
/// The same for many bytes that lie apart, written one piece after another, but not flushed to disk: that takes longer
/// than all else. Whoever kills the process leaves `path` as it was or whole; a machine that loses power may leave a
/// file that is not, so that this is for files whose reader checks what he reads. `check` is asked when all are
/// written; where it fails, `path` stays as it was. Long pieces that lie in one of `sources` are copied from file to
/// file by the system, which maps no page for that.
Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                             const std::function<Status()>& check = {},
                             std::span<const std::shared_ptr<const MappedFile>> sources = {});

/// The folder for caches: $FUSESCOPE_CACHE, else ~/.cache/fusescope. Made if it is missing.
Result<std::filesystem::path> cacheFolder();

}  // namespace fusescope
