#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/deferred_file.h"
#include "base/stop.h"
#include "base/temporary_folder.h"
#include "compilers/compiler.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Whether the types of a plan are written into the network that a compiler receives.
enum class CompilerInputTypes {
  AsPlanned,  ///< Casts around everything that the plan calculates in other types, for a compiler that takes types from
              ///< the network
  AsInFile    ///< the types of the file, for a compiler that gets types by options
};

/// A network as another compiler receives it: an ONNX file in which nodes and values, also those in bodies, have
/// numbers instead of names, so that each name in the compiler's output refers to exactly one node. Inputs and outputs
/// keep their order; only inputs of `leftOut` are missing.
struct CompilerInput {
  std::shared_ptr<const Plan> plan;
  std::filesystem::path path;                     ///< its path; weights may be in a file beside it
  std::shared_ptr<DeferredFile> weights{};        ///< that file, if it is written only when it is read
  std::shared_ptr<const TemporaryFolder> folder;  ///< the folder that contains it; null: it is the user's own file
  onnxlib::FileModel file;                        ///< its contents; weights are views of mapped files
  /// For each name of a node in the file's main graph, the nodes of the plan's graph that correspond to it. The list is
  /// empty for an added node, such as a Cast, and for a node without one in the plan, such as a Constant.
  std::map<std::string, std::vector<NodeId>, std::less<>> nodes{};
  /// For each name of a value in the file's main graph, the value of the plan, whatever its type is: the result of an
  /// added Cast also belongs to the value that it converts.
  std::map<std::string, ValueId, std::less<>> values{};
  /// For each number, the name in the user's file of that node or value, also if the plan does not have it.
  std::map<std::string, std::string, std::less<>> namesInFile{};
  std::vector<LoweredPin> pins{};  ///< in the order of the graph
  /// Inputs of the plan that the file does not have, because nothing reads them and the target does not have their
  /// type.
  std::vector<ValueId> leftOut{};
  /// For a compiler that does not read ONNX: the files that it receives instead, by the names that the probe uses.
  std::map<std::string, std::filesystem::path> replacementFiles{};
};

/// Writes the network of `plan` with numbers as names. It is written from the file that it was read from, so that the
/// compiler receives the author's operators. Weights that lie in that file are written when somebody reads them. A plan
/// without a file, such as that of a part that was cut out, is written from its graph. Errors: those of writing;
/// cancellation.
Result<CompilerInput> makeCompilerInput(std::shared_ptr<const Plan> plan, CompilerInputTypes types,
                                        const StopToken& stop);

/// Returns the file at `path` that `plan` was made from, with its own names (a node without a name is
/// "node_of_OUTPUT"), for reading the output of a compiler that received it without numbers.
Result<CompilerInput> networkAsNamed(std::shared_ptr<const Plan> plan, const std::filesystem::path& path);

/// Returns the graph of `plan` with its own names, for a network that was not read from a file of nodes.
CompilerInput graphAsNamed(std::shared_ptr<const Plan> plan);

/// Returns the files of a network by the names that a probe uses: "network.onnx" and its weights beside it, or the
/// files that replace them.
std::map<std::string, std::filesystem::path> filesOf(const CompilerInput& network);

}  // namespace fusescope
