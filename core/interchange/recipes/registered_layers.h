#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// Layers of TensorRT's network for each node of the file, as its parser reports them.
using LayersOfNodes = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Reads the lines `Registering layer: LAYER for ONNX node: NODE` of a verbose log of trtexec.
LayersOfNodes registeredLayers(std::string_view log);

/// Returns the other node whose second, third, … layer may be called `name`, because the parser appends a counter to
/// the names of further layers; empty if there is none.
std::string otherNode(const std::set<std::string, std::less<>>& names, std::string_view name);

}  // namespace fusescope
