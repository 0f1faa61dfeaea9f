#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxruntime {

/// Returns the name of the optimiser that made a node of an optimised network, as its log and the option `disable` have
/// it: "MatMulAddFusion". It is read from the node's name ("n14/MatMulAddFusion"), from the text that the optimiser
/// wrote into the node, or from an operator that only this optimiser writes. `held` is the number of nodes of the
/// user's network in it: a network may itself contain operators of ONNX Runtime, which no optimiser made. Empty:
/// unknown, or no optimiser made it.
std::string optimiserOf(const onnxlib::FileNode& node, std::size_t held);

/// Returns the names by which `disable` leaves out optimisers and rules, as far as they are known: the names of the
/// versions that were looked at. Another version may have more.
const std::vector<std::string>& knownOptimisers();
/// Returns the known names that `name` resembles without being one of them or one of them with something behind it
/// ("MatMulAddFusio", but not "GeluFusionL3", which a later version may have). They are empty if it is known.
std::vector<std::string> knownOptimisersNear(const std::string& name);

}  // namespace fusescope::onnxruntime
