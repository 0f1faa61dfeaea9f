#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json_fwd.h"
#include "base/mapped_file.h"
#include "base/temporary_folder.h"

namespace fusescope {

// The ONNX networks that torch made of exported programs (.pt2). They are stored in the folder for caches, so that a
// program opens as its network without torch:
//
//   programs/HASH/KEY/network.onnx, with its weights beside it if they are large
//                     made.json
//
// HASH is the hash of the bytes of the .pt2, and KEY is the hash of everything else on which the network depends. A
// folder is moved to its place when it is complete. README.md describes made.json.

/// The version of the stored format and of what the probe produces for it (VERSION in torch_export.py). Other versions
/// are not opened.
inline constexpr int kMadeNetworkVersion = 1;
inline constexpr const char* kMadeNetwork = "network.onnx";
/// The key of the version of torch in toJson().
inline constexpr const char* kTorchVersion = "torch";

/// An open extent of the program's inputs. A bound that is absent does not exist.
struct MadeExtent {
  std::string symbol;  ///< in the program: "s77", "4*s17"
  std::string name;    ///< in the network: "batch"
  std::optional<std::int64_t> least, most;
};

/// A node of the network and its origin. Texts are empty if torch does not report them.
struct MadeNode {
  std::string name;    ///< HOLDER/NAME for a node in a body
  std::string from;    ///< the node of the program; in a body after the path of the body's graph: "true_graph_0/add"
  std::string module;  ///< "encoder.layer.3"
  std::string trace;   ///< source lines, as Python prints them
};

/// How a network was made of a program.
struct MadeNetwork {
  std::string torch, onnx, onnxscript;  ///< versions
  std::string environment;              ///< the command that started its Python
  int opset = 0;
  std::map<std::string, std::string> names;  ///< requested names of extents, by symbol
  std::vector<std::string> inputs, outputs;
  std::vector<MadeExtent> extents;
  std::vector<MadeNode> nodes;
  std::int64_t nodesWithKnownOrigin() const;  ///< number of nodes whose node in the program is known
};
/// Returns {torch, onnx, onnxscript, environment, opset, names{}, inputs[], outputs[], symbols[{symbol, name, min,
/// max}], nodes[{node, from, module, trace}]}.
Json toJson(const MadeNetwork& made);
/// Reads this form, which the probe also answers with; `environment` and `names` may be absent. Errors name the field.
Result<MadeNetwork> madeNetworkFromJson(const Json& json);

/// A stored network, all of whose files are unchanged.
struct KeptNetwork {
  std::filesystem::path network;
  MadeNetwork made;
};

/// The stored networks of one program.
struct KeptNetworks {
  std::optional<KeptNetwork> newest;  ///< the usable one that was made or used last
  /// A sentence for each other one: it is incomplete, changed, or of another version.
  std::vector<std::string> unusable;
};

/// Returns the hash of the bytes of a program. It is an error if the file changes meanwhile.
Result<Hash128> programHash(const MappedFile& program);

/// Finds the stored networks of a program. It compares every file with its hash, and so reads all files completely. If
/// `names` is not null, only networks are returned for which these names of extents were requested. It writes nothing.
KeptNetworks findKeptNetworks(const Hash128& program, const std::map<std::string, std::string>* names = nullptr);
/// Records that `kept` was opened, so that it is the newest of its program and the last that is removed when space is
/// needed.
void noteUse(const KeptNetwork& kept);
/// Returns the network under `key` if it can be used, and makes it the newest.
std::optional<KeptNetwork> takeKeptNetwork(const Hash128& program, const Hash128& key);

/// Makes a folder for the files that keepNetwork() will store. It is removed with this process.
Result<TemporaryFolder> folderForNetwork();
/// Moves `folder`, which is in a result of folderForNetwork(), to its place under `key`, and replaces what is there.
Result<KeptNetwork> keepNetwork(const Hash128& program, const Hash128& key, const std::filesystem::path& folder,
                                const MadeNetwork& made);

}  // namespace fusescope
