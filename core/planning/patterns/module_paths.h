#pragma once

#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

struct Node;

/// Returns the paths by which `module:` finds a node. A path is dotted, from the outermost module inwards, and ends
/// with the node's own name. Paths come from the exporter's scope metadata and from names that exporters write
/// ('/encoder/layer.3/attention/MatMul', 'encoder.layer.3.attention.MatMul',
/// 'StatefulPartitionedCall/model/dense/MatMul') and, for nodes without a scope, from the names of weights
/// ('encoder.conv.weight') and of Paddle's values ('conv2d_3.tmp_0'). A node has several paths if its names are
/// ambiguous.
std::vector<std::string> modulePaths(const Model& model, const Node& node);
/// Returns the path of the innermost module that contains the node, without the node's own name. If there are several
/// candidates, the exporter's metadata take precedence, then the node's name, then the names of its weights. It is
/// empty if no module, or only the outermost, is known.
std::string moduleOf(const Model& model, const Node& node);
/// Converts a module's path, as it is written after `module:` with slashes or dots, to the dotted form.
std::string dottedPath(std::string_view path);

}  // namespace fusescope
