#pragma once

#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// The paths by which `module:` finds a node: dotted, from the outermost module in, each with the node's own name as
/// its last part. They come from the exporter's scope metadata and from names as exporters write them
/// ('/encoder/layer.3/attention/MatMul', 'encoder.layer.3.attention.MatMul',
/// 'StatefulPartitionedCall/model/dense/MatMul') and, for nodes without a scope, from the names of weights
/// ('encoder.conv.weight') and of Paddle's values
/// ('conv2d_3.tmp_0'). A node has several where names are ambiguous.
std::vector<std::string> modulePaths(const Model& model, const Node& node);
/// The path of the innermost module that holds the node, without the node's own name: of several that could be told,
/// the exporter's metadata first, then its name, then those of its weights. Empty: none is told, or only the outermost.
std::string moduleOf(const Model& model, const Node& node);
/// A module's path as `module:` takes it, with slashes or dots, in the dotted form.
std::string dottedPath(std::string_view path);

}  // namespace fusescope
