#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// A step into a body: the node that has it, by its place in its graph's list, and the attribute that holds it.
struct BodyStep {
  std::size_t node = 0;
  std::string attribute;
  auto operator<=>(const BodyStep&) const = default;
};
/// The way from the main graph to one of the file's graphs; empty: the main graph.
using GraphPath = std::vector<BodyStep>;

/// A node as the file has it: its graph, and its place in the graph's list. Edits never change what a place means. In
/// the main graph it is the OriginId of the node.
struct NodePlace {
  GraphPath graph;
  std::size_t node = 0;
  auto operator<=>(const NodePlace&) const = default;
};

/// What to change in a network as its file has it. All that is not named stays as it is: nodes, names, metadata,
/// weights.
struct NetworkEdits {
  /// Operand `slot` of a node reads another value ("": none); slots behind the last one are added.
  struct Operand {
    NodePlace node;
    std::size_t slot = 0;
    std::string value;
  };
  /// Result `slot` of a node gets another name. Whoever read it reads that name only where an Operand says so.
  struct Outcome {
    NodePlace node;
    std::size_t slot = 0;
    std::string value;
  };
  /// A node that the file has not; it goes behind the last node that makes what it reads (bodies included), those made
  /// at one place in this order. What an earlier new node makes, a later one may read.
  struct NewNode {
    GraphPath graph;
    FileNode node;
  };
  /// Added, or in the place of the one of that name.
  struct NewAttribute {
    NodePlace node;
    FileAttribute attribute;
  };
  /// A node loses an attribute.
  struct GoneAttribute {
    NodePlace node;
    std::string name;
  };
  /// Added, or in the place of the one of that name, whose declared types change with it.
  struct NewInitializer {
    GraphPath graph;
    FileTensor tensor;
  };
  /// The element type that a graph declares of a value: of its input, output or value_info. One whose name is not
  /// declared is left so.
  struct NewType {
    GraphPath graph;
    std::string value;
    DataType type = DataType::Undefined;
  };
  /// A node of the main graph is called otherwise.
  struct NewName {
    std::size_t node = 0;
    std::string name;
  };
  /// What goes into the main graph and what comes out of it, in the place of what the file declares: of a part of the
  /// network. What the part needs none of goes: initializers, declared types, functions, annotations and steps for
  /// training. Initializers that the oldest files list among the inputs stay listed.
  struct Borders {
    std::vector<FileValue> inputs, outputs;
  };
  std::vector<Operand> operands;
  std::vector<Outcome> outcomes;
  std::vector<NewNode> nodes;
  std::vector<NodePlace> goneNodes;  ///< nodes that go; what they made, new nodes make or nobody reads
  std::vector<NewAttribute> attributes;
  std::vector<GoneAttribute> goneAttributes;
  std::vector<NewInitializer> initializers;
  std::vector<NewType> types;
  std::vector<NewName> names;
  std::optional<Borders> borders;
  std::map<std::string, std::string> metadata;       ///< added, or in the place of what is there
  std::map<std::string, std::string> graphMetadata;  ///< the same of the main graph
  std::vector<std::string> goneMetadata;             ///< keys of metadata that go, where they are there
  std::int64_t opset = 0;                            ///< of ai.onnx; 0: as it is. Never lowered.
};

/// A network as bytes: of its .onnx file, and of the file with its weights beside it, if there is one.
struct NetworkBytes {
  std::string model;
  std::vector<std::span<const std::byte>> weights;  ///< one after another; empty: all is in `model`
  MappedFiles files;                                ///< of the network that was read, and what `weights` are views of
  std::vector<std::shared_ptr<const void>> owners;  ///< of the other `weights`
};

/// The oldest version of the file format for an opset of ai.onnx, as ONNX released them; of what the library knows.
std::int64_t irVersionFor(std::int64_t opset);

/// Weights of up to this many bytes in all stay within the .onnx file, which protobuf bounds at 2 GiB.
inline constexpr std::int64_t kMostBytesInside = std::int64_t{1} << 30;

/// The network at `path` with `edits`. Initializers, Constants and Casts of the main graph that nothing reads any more
/// because of the edits go. Weights of 4
/// KiB and more lie in a file beside it, which is to be called `weightsName`, where the file has external data itself
/// or its weights are above `mostInside` bytes. Errors are located: what an edit names is not there, a file changed.
Result<NetworkBytes> editNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                 const std::string& weightsName, std::int64_t mostInside = kMostBytesInside);

/// The same network with numbers for names.
struct NumberedNetwork {
  NetworkBytes bytes;
  /// What a value of the main graph is called, by the name that it has in the file or in the edits.
  std::map<std::string, std::string, std::less<>> values{};
};
/// As editNetwork(); then every node is called "n0", "n1", … and every value "v0", "v1", …, those in bodies and
/// functions too, each name once in the file. A node of the file's main graph has its place there for a number; nodes
/// that the edits add have numbers behind all those of the file. Steps for training go.
Result<NumberedNetwork> numberedNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                        const std::string& weightsName, std::int64_t mostInside = kMostBytesInside);

/// The error that `path`, where something is to be written, leads to one of `files`.
Status checkNotWrittenOver(const std::filesystem::path& path, const MappedFiles& files);
/// Writes the weights, then the network; each is at every moment as it was or whole. `path`.data is the file beside.
/// Refuses a path that leads to one of `network.files`.
Status writeNetwork(const std::filesystem::path& path, const NetworkBytes& network);
/// The same, with the file of the weights at `weights`; it is to have the name that the network was edited for.
Status writeNetworkAs(const std::filesystem::path& path, const std::filesystem::path& weights,
                      const NetworkBytes& network);
/// What the file with the weights is called beside a network at `path`.
std::string weightsNameOf(const std::filesystem::path& path);

}  // namespace fusescope::onnxlib
