#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// Layers of TensorRT's network for each node of the file, by the parser's own account.
using LayersOfNodes = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Reads the lines `Registering layer: LAYER for ONNX node: NODE` of a verbose log of trtexec.
LayersOfNodes registeredLayers(std::string_view log);

/// The other node whose second, third, … layer may have been called `name`, since the parser appends a counter to them;
/// empty if there is none.
std::string otherNode(const std::set<std::string, std::less<>>& names, std::string_view name);

}  // namespace fusescope
