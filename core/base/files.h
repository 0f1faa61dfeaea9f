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

/// Reads a whole file. It is an error if the file cannot be read, or if it changes while it is read.
Result<std::string> readTextFile(const std::filesystem::path& path);

/// Checks, as far as one can know before writing, whether `path` can be written. Commands call it before work that
/// takes long.
Status checkWritable(const std::filesystem::path& path);

/// Writes a temporary file beside `path` and renames it, so that at every moment `path` is either unchanged or
/// complete. The data is flushed to disk. The file keeps its permissions. If `path` is a symbolic link, the file that
/// it leads to is replaced and the link remains; a device or a pipe is written to directly.
Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::filesystem::path& path, std::string_view text);
/// Does the same, but `write` makes the content: it gets the path of an empty temporary file, which it may fill or
/// replace.
Status writeFileAtomically(const std::filesystem::path& path,
                           const std::function<Status(const std::filesystem::path& temporary)>& write);
/// Does the same for many pieces of memory, which are written one after another, but does not flush them to disk,
/// because that would take longer than everything else. If the process is killed, `path` is unchanged or complete;
/// after a power failure the file may be incomplete, so that this function is only for files that are checked when they
/// are read. `check` is called when all pieces are written; if it returns an error, `path` is not changed. `sources`
/// are the mapped files in which pieces lie (base/write_pieces.h).
Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                             const std::function<Status()>& check = {},
                             std::span<const std::shared_ptr<const MappedFile>> sources = {});

/// Returns `path` from the root, without "." and ".."; `path` itself if the current folder is not known.
std::string absolutePath(const std::string& path);

/// Returns the folder for caches: $FUSESCOPE_CACHE, or ~/.cache/fusescope if that is not set. It is created if it does
/// not exist.
Result<std::filesystem::path> cacheFolder();

}  // namespace fusescope
