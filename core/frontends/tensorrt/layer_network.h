#pragma once

#include <filesystem>
#include <string_view>

#include "frontends/importers.h"
#include "frontends/tensorrt/engine_layers.h"

namespace fusescope {

/// Model::format of a network that was made of the layers of an engine.
inline constexpr std::string_view kEngineLayersFormat = "tensorrt-layers";
/// Returns whether the network was made of the layers of an engine.
bool isOfEngineLayers(const Model& model);
/// The domain of its operators, which are the types of layers: "CaskConvolution", "kgen", …
inline constexpr std::string_view kEngineLayersDomain = "tensorrt";

/// The attribute of such a node that lists the nodes of the original network that its layer names; see nodesSaidBy().
inline constexpr std::string_view kNodesSaid = "nodes";

/// Makes a network of an engine's layers, in place of the network from which the engine was built. It has a node with
/// the layer's name for each layer that writes something, and an edge where a layer reads what an earlier layer wrote.
/// It has no weights and cannot run. Model::origins are all layers, in their order. It is an error if the layers have
/// only names, because the edges are then unknown.
Result<Model> layerNetwork(const EngineLayers& engine);

/// Implements importModel() for files of layer information.
Result<Model> importEngineLayers(const std::filesystem::path& path);

}  // namespace fusescope
