#include "frontends/importers.h"
#include "frontends/onnx/onnx_importer.h"
#include "frontends/tensorrt/layer_network.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/script_files.h"

namespace fusescope {

Result<Model> importModel(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop,
                          NodeForm nodes) {
  if (auto script = whyScriptIsNotOpened(path)) return *std::move(script);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Diagnostic{.message = "there is no such file", .where = {.file = path.string()}};
  if (std::filesystem::is_directory(path, error))
    return Diagnostic{.message = "is a folder, not a model file", .where = {.file = path.string()}};
  if (isEngineLayersFile(path)) return importEngineLayers(path);
  if (isTorchFile(path)) return importExportedProgram(path, limits, stop, nodes);
  return importOnnx(path, limits, stop, nodes);
}

}  // namespace fusescope
