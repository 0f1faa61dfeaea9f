#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "onnxlib/network_bytes.h"
#include "onnxlib/network_edits.h"

namespace fusescope::onnxlib {

/// Weights of at most this total size stay in the .onnx file, whose size protobuf limits to 2 GiB.
inline constexpr std::int64_t kMostBytesInside = std::int64_t{1} << 30;

/// Returns the network at `path` with `edits`. Initializers, Constants and Casts of the main graph that are not read
/// any more because of the edits are removed. Weights of 4 KiB and more are put into a separate file, which will be
/// called `weightsName`, if the original has external data or the weights have more than `mostInside` bytes. Errors are
/// located: something that an edit names does not exist, or a file changed.
Result<NetworkBytes> editNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                 const std::string& weightsName, std::int64_t mostInside = kMostBytesInside);

/// A network with numbers in place of names.
struct NumberedNetwork {
  NetworkBytes bytes;
  /// The new names of the main graph's values, by their names in the file or in the edits.
  std::map<std::string, std::string, std::less<>> values{};
};
/// Edits the network as editNetwork() does, and then renames every node to "n0", "n1", … and every value to "v0", "v1",
/// …, including those in bodies and functions. Each name is unique in the file. The number of a node of the main graph
/// is its position in the file; nodes that the edits add have higher numbers than all nodes of the file. Training steps
/// are removed.
Result<NumberedNetwork> numberedNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                        const std::string& weightsName, std::int64_t mostInside = kMostBytesInside);

/// Returns an error if `path`, where something is to be written, leads to one of `files`.
Status checkNotWrittenOver(const std::filesystem::path& path, const MappedFiles& files);
/// Writes the weights (to `path`.data), then the network. Each file is unchanged or complete at every moment. It is an
/// error if a path leads to one of `network.files`.
Status writeNetwork(const std::filesystem::path& path, const NetworkBytes& network);
/// Does the same with the file of weights at `weights`, whose name must be the one that editNetwork() was given.
Status writeNetworkAs(const std::filesystem::path& path, const std::filesystem::path& weights,
                      const NetworkBytes& network);
/// Returns the name of the file of weights for a network at `path`.
std::string weightsNameOf(const std::filesystem::path& path);

}  // namespace fusescope::onnxlib
