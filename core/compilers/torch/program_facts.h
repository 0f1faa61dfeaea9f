#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "frontends/torch/inductor_build.h"

namespace fusescope::torch_compiler {

/// Where a node of a graph of torch comes from. By it one graph's nodes are found again in another.
struct NodeOrigin {
  std::string name;    ///< "linear_4"; empty: nothing is known of it
  std::string target;  ///< "aten.linear.default"
  std::string module;  ///< "encoder.layer.3"; empty: the outermost
  std::string trace;   ///< the lines of source that it comes from
};

/// A node of an exported program, and what it did in a run that the probe watched.
struct ProgramNode {
  NodeOrigin origin;
  std::string within;                ///< the node whose inner graph it is of; empty: of the program itself
  std::vector<std::string> types{};  ///< of the tensors that it made, "f32"; empty: none, or nobody saw it
  bool isView = false;               ///< all that it made lies in the memory of what it read
};

/// A parameter, a buffer or a constant of an exported program.
struct ProgramWeight {
  std::string type;
  std::vector<std::int64_t> dims;
  std::string sha256;
  std::string transposed;  ///< the hash with its two axes exchanged; empty: it is no matrix
};

/// What the probe says of an exported program: program.json.
struct ProgramFacts {
  std::vector<ProgramNode> nodes;  ///< in the order in which they run
  std::map<std::string, ProgramWeight, std::less<>> weights;
};
Result<ProgramFacts> programFacts(std::string_view text);

/// What TorchInductor tells of one graph: provenance.json has a list.
struct InductorGraph {
  std::vector<InductorKernel> kernels;  ///< in the order in which a run calls them
  std::vector<NodeOrigin> nodes;        ///< of the graph that it was given
};
Result<std::vector<InductorGraph>> inductorGraphs(std::string_view text);

}  // namespace fusescope::torch_compiler
