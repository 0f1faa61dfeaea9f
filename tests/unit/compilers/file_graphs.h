#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::testing {

/// A file's graph from lines of text: "in x", "out y", "const w", "Op name a b -> c d"; "_" for what is absent.
/// "domain:Op" is an operator of another domain.
inline onnxlib::FileGraph fileGraph(const std::vector<std::string>& lines) {
  onnxlib::FileGraph graph;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string op, word;
    words >> op >> word;
    if (op == "in") {
      graph.inputs.push_back({.name = word, .type = {}});
    } else if (op == "out") {
      graph.outputs.push_back({.name = word, .type = {}});
    } else if (op == "const") {
      onnxlib::FileTensor tensor;
      tensor.name = word;
      tensor.dtype = DataType::F32;
      tensor.dims = {4};
      graph.initializers.push_back(std::move(tensor));
    } else {
      onnxlib::FileNode node;
      const std::size_t colon = op.find(':');
      node.op = colon == std::string::npos ? op : op.substr(colon + 1);
      if (colon != std::string::npos) node.domain = op.substr(0, colon);
      node.name = word == "_" ? "" : word;
      bool isOutput = false;
      while (words >> word) {
        if (word == "->") {
          isOutput = true;
        } else {
          (isOutput ? node.outputs : node.inputs).push_back(word == "_" ? "" : word);
        }
      }
      graph.nodes.push_back(std::move(node));
    }
  }
  return graph;
}

}  // namespace fusescope::testing
