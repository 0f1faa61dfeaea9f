#pragma once

#include <filesystem>
#include <string_view>

#include "frontends/importers.h"
#include "frontends/tensorrt/engine_layers.h"

namespace fusescope {

/// Model::format of a network that was made of the layers of an engine.
inline constexpr std::string_view kEngineLayersFormat = "tensorrt-layers";
/// The domain of its operators, which are the types of layers: "CaskConvolution", "kgen", …
inline constexpr std::string_view kEngineLayersDomain = "tensorrt";

/// The attribute of such a node that lists the nodes of the network that its layer says it is of: nodesSaidBy().
inline constexpr std::string_view kNodesSaid = "nodes";

/// A network of an engine's layers, in place of the network that the engine was built from: a node for each layer that
/// writes something, of its name, and edges where one reads what another wrote before it. It has no weights, and nobody
/// can run it. Model::origins are all layers, in their order. Errors: only names are told, so that nothing is known of
/// edges.
Result<Model> layerNetwork(const EngineLayers& engine);

/// importModel() for files of layer information.
Result<Model> importEngineLayers(const std::filesystem::path& path);

}  // namespace fusescope
