#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frontends/torch/inductor_build.h"

namespace fusescope::torch_compiler {

/// The origin of a node in a graph of torch, by which nodes of one graph are found in another.
struct NodeOrigin {
  std::string name;    ///< "linear_4"; empty: nothing is known about the node
  std::string target;  ///< "aten.linear.default"
  std::string module;  ///< "encoder.layer.3"; empty: the outermost module
  std::string trace;   ///< the source lines that it comes from
};

/// A node of an exported program, and what it did in a run that the probe observed.
struct ProgramNode {
  NodeOrigin origin;
  std::string within;                ///< the node whose inner graph contains it; empty: it is in the program itself
  std::vector<std::string> types{};  ///< types of the tensors that it made, such as "f32"; empty: none, or it was not
                                     ///< observed
  bool isView = false;               ///< all its results use the memory of its inputs
};

/// A parameter, a buffer or a constant of an exported program.
struct ProgramWeight {
  std::string type;
  std::vector<std::int64_t> dims;
  std::string sha256;
  std::string transposed;  ///< the hash of the transposed matrix; empty if it is not a matrix
};

/// What the probe reports about an exported program: program.json.
struct ProgramFacts {
  std::vector<ProgramNode> nodes;  ///< in execution order
  std::map<std::string, ProgramWeight, std::less<>> weights;
};
Result<ProgramFacts> programFacts(std::string_view text);

/// What TorchInductor reports about one graph; provenance.json contains a list of these.
struct InductorGraph {
  std::vector<InductorKernel> kernels;  ///< in the order in which a run calls them
  std::vector<NodeOrigin> nodes;        ///< nodes of the graph that it compiled
};
Result<std::vector<InductorGraph>> inductorGraphs(std::string_view text);

}  // namespace fusescope::torch_compiler
