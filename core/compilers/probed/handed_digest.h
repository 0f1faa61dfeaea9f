#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/stop.h"
#include "cache/kept_store.h"
#include "onnxlib/edited_network.h"

namespace fusescope {

/// The kind under which hashes are kept: of the sources of weights, and of the code of compilers (code_hashes.h). They
/// hold on this machine alone.
inline constexpr const char* kDigestKind = "digest";

/// Returns a text that says which parts of which files the weights of a network that is passed to a compiler consist
/// of. Weights with the same text are equal. It is empty if many of the weights come from no file, or if a file was
/// changed within the last seconds, because another change might have the same time.
std::string sourceOf(const onnxlib::NetworkBytes& network);
/// Records this text, which is not empty, beside the file of the weights, which need not exist yet.
Status noteSource(const std::filesystem::path& weights, std::string_view source);
/// Returns the text that was recorded beside a file; empty if none was.
std::string notedSource(const std::filesystem::path& file);

/// Returns the SHA-256 of a file that is passed to a compiler. Each file is hashed once per process, unless it changed
/// within the last seconds: it is then hashed each time, because another change might have the same time. If
/// noteSource() was called for weights, they are hashed once for all processes that use `store`, as long as the source
/// files have the same device, inode, size and times; nobody can set the time of the last change of an inode. Weights
/// whose hash is known need not exist; others are written first, if they are a DeferredFile. Errors: it cannot be read
/// or written; cancelled.
Result<std::string> handedSha256(KeptStore& store, const std::filesystem::path& path, const StopToken& stop);

/// Returns whether `store` has the SHA-256 of the weights at `path` by their source.
bool isSha256Kept(KeptStore& store, const std::filesystem::path& path);

}  // namespace fusescope
