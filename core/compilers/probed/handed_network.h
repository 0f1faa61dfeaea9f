#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "base/temporary_folder.h"
#include "compilers/compiler.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Whether the types of a plan are written into the network that a compiler is handed.
enum class HandedTypes {
  AsPlanned,  ///< Casts around what the plan calculates in other types: a compiler that takes types from the network
  AsInFile    ///< those of the file: a compiler that is told types by options
};

/// A network as another compiler is handed it: an ONNX file in which nodes and values have numbers for names, those in
/// bodies too, so that what the compiler says of a name is of one node alone. Inputs and outputs keep their order.
struct HandedNetwork {
  std::shared_ptr<const Plan> plan;
  std::filesystem::path path;                     ///< where it lies; weights may be in a file beside it
  std::shared_ptr<const TemporaryFolder> folder;  ///< that it lies in; null: it is the user's own file
  onnxlib::FileModel file;                        ///< what is in it; weights are views of mapped files
  /// By the name of a node of the file's main graph: the nodes of the plan's graph that stand for it. Of one that was
  /// added, as a Cast, and of one that the plan has no node for, as a Constant: none.
  std::map<std::string, std::vector<NodeId>, std::less<>> nodes{};
  /// By the name of a value of the file's main graph: the plan's value that it is, at whatever type: what an added Cast
  /// makes of a value is that value, too.
  std::map<std::string, ValueId, std::less<>> values{};
  /// By number: what nodes and values of the user's file are called there, also those that the plan does not have.
  std::map<std::string, std::string, std::less<>> namesInFile{};
  std::vector<LoweredPin> pins{};  ///< in the order of the graph
  /// What a compiler that reads no ONNX file is handed in its place, by the names that the probe is to know it by.
  std::map<std::string, std::filesystem::path> handedAs{};
};

/// Writes the network of `plan` with numbers for names: from the file that it was read from, so that the compiler sees
/// the operators of its author. A plan that no file stands behind, as of a part that was cut out of another, is written
/// from its graph. Errors: those of writing; cancellation.
Result<HandedNetwork> handNetwork(std::shared_ptr<const Plan> plan, HandedTypes types, const StopToken& stop);

/// The file at `path` that `plan` was made of, under the names that it has (of a nameless node "node_of_OUTPUT"): for
/// what a compiler that was handed it without numbers says of it.
Result<HandedNetwork> networkAsNamed(std::shared_ptr<const Plan> plan, const std::filesystem::path& path);

/// The graph of `plan` under the names that it has itself: for a network that no file of nodes stands behind.
HandedNetwork graphAsNamed(std::shared_ptr<const Plan> plan);

/// The files of a network, by the names that a probe is to know them by: "network.onnx", and its weights beside it, or
/// what is handed over in their place.
std::map<std::string, std::filesystem::path> filesOf(const HandedNetwork& network);

}  // namespace fusescope
