#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/temporary_folder.h"

namespace fusescope {

// The ONNX networks that torch made of exported programs (.pt2), kept in the folder for caches so that a program opens
// as its network without torch:
//
//   programs/HASH/KEY/network.onnx, with its weights beside it where they are many
//                     made.json
//
// HASH is that of the bytes of the .pt2. KEY is that of all that the network depends on besides. A folder is put in its
// place whole. README.md has the format of made.json.

/// The version of what is kept, and of what the probe makes for it (VERSION in torch_export.py). Another one is not
/// opened.
inline constexpr int kMadeNetworkVersion = 1;
inline constexpr const char* kMadeNetwork = "network.onnx";
/// The key of toJson() under which the version of torch is.
inline constexpr const char* kTorchVersion = "torch";

/// An open extent of the program's inputs. No bound: any number.
struct MadeExtent {
  std::string symbol;  ///< in the program: "s77", "4*s17"
  std::string name;    ///< in the network: "batch"
  std::optional<std::int64_t> least, most;
};

/// A node of the network, and where it comes from. Texts are empty where torch does not tell.
struct MadeNode {
  std::string name;    ///< in a body HOLDER/NAME
  std::string from;    ///< the node of the program; in a body behind the path of the body's graph: "true_graph_0/add"
  std::string module;  ///< "encoder.layer.3"
  std::string trace;   ///< the lines of source, as Python prints them
};

/// How a network was made of a program.
struct MadeNetwork {
  std::string torch, onnx, onnxscript;  ///< versions
  std::string environment;              ///< the command that started its Python
  int opset = 0;
  std::map<std::string, std::string> names;  ///< that were asked for extents, by their symbols
  std::vector<std::string> inputs, outputs;
  std::vector<MadeExtent> extents;
  std::vector<MadeNode> nodes;
  std::int64_t tied() const;  ///< nodes of which it is known from which of the program they are
};
/// {torch, onnx, onnxscript, environment, opset, names{}, inputs[], outputs[], symbols[{symbol, name, min, max}],
/// nodes[{node, from, module, trace}]}.
Json toJson(const MadeNetwork& made);
/// The inverse, which the answer of the probe is, too: `environment` and `names` may be absent. Errors name the field.
Result<MadeNetwork> madeNetworkFromJson(const Json& json);

/// A network that is kept, with all its files as they were.
struct KeptNetwork {
  std::filesystem::path network;
  MadeNetwork made;
};

/// What is kept of one program.
struct KeptNetworks {
  std::optional<KeptNetwork> newest;  ///< the one that was made or taken last, of those that can be used
  std::vector<std::string> unusable;  ///< why others cannot, each as a sentence: torn, changed, of another version
};

/// The hash of the bytes of a program. Errors: the file changed meanwhile.
Result<Hash128> programHash(const MappedFile& program);

/// Compares every file with its hash, so that it reads them whole. `names`: only those for which these names of extents
/// were asked; null: all. Writes nothing.
KeptNetworks findKeptNetworks(const Hash128& program, const std::map<std::string, std::string>* names = nullptr);
/// Notes that `kept` was opened: from now on it is the newest of its program, and the last that is removed to make
/// room.
void noteUse(const KeptNetwork& kept);
/// The one under `key`, if it can be used: it is the newest from now on.
std::optional<KeptNetwork> takeKeptNetwork(const Hash128& program, const Hash128& key);

/// A folder beside those that are kept, for what keepNetwork() is to keep. It goes with this process.
Result<TemporaryFolder> folderForNetwork();
/// Moves `folder`, which lies in one of folderForNetwork(), to its place under `key`; what is there goes.
Result<KeptNetwork> keepNetwork(const Hash128& program, const Hash128& key, const std::filesystem::path& folder,
                                const MadeNetwork& made);

}  // namespace fusescope
