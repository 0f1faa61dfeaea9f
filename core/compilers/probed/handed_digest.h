#pragma once

#include <filesystem>
#include <string>

#include "base/stop.h"
#include "cache/kept_store.h"
#include "onnxlib/edited_network.h"

namespace fusescope {

/// The kind under which hashes are kept: of the sources of weights, and of the code of compilers (code_hashes.h). They
/// hold on this machine alone.
inline constexpr const char* kDigestKind = "digest";

/// Records beside the weights of a network that is passed to a compiler from which parts of which files they were
/// copied, so that their hash is known if these files are unchanged. Records nothing if many of the weights come from
/// no file.
Status noteSource(const std::filesystem::path& weights, const onnxlib::NetworkBytes& network);

/// Returns the SHA-256 of a file that is passed to a compiler. Each file is hashed once per process, unless it changed
/// within the last seconds: it is then hashed each time, because another change might have the same time. If
/// noteSource() was called for weights, they are hashed once for all processes that use `store`, as long as the source
/// files have the same device, inode, size and times; nobody can set the time of the last change of an inode. Errors:
/// it cannot be read; cancelled.
Result<std::string> handedSha256(KeptStore& store, const std::filesystem::path& path, const StopToken& stop);

}  // namespace fusescope
