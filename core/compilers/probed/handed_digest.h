#pragma once

#include <filesystem>
#include <string>

#include "base/stop.h"
#include "cache/kept_store.h"
#include "onnxlib/network_edits.h"

namespace fusescope {

/// Notes beside the weights of a network that is handed over which parts of which files they are copied from, so that
/// their hash is known again where these are the same files. Nothing is noted where much of them lies in no file.
Status noteSource(const std::filesystem::path& weights, const onnxlib::NetworkBytes& network);

/// SHA-256 of a file that is handed over. Hashed once in a process; of weights whose source was noted also once in
/// `store`, by the identities of the source's files: device, inode, size and times, of which nobody can set that of the
/// last change. Files that changed within the last seconds by this machine's clock are hashed each time, since another
/// change might have the same time. Errors: it cannot be read; cancelled.
Result<std::string> handedSha256(KeptStore& store, const std::filesystem::path& path, const StopToken& stop);

}  // namespace fusescope
