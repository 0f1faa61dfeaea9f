#include "interchange/exports.h"

#include <algorithm>

#include "base/shell_quoted.h"
#include "interchange/export_calibration_cache.h"
#include "interchange/export_dot.h"
#include "interchange/export_modelopt.h"
#include "interchange/export_notes.h"
#include "interchange/export_onnx.h"
#include "interchange/export_onnxruntime.h"
#include "interchange/export_openvino.h"
#include "interchange/export_polygraphy.h"
#include "interchange/export_pt2.h"
#include "interchange/export_torch_tensorrt.h"
#include "interchange/export_trtexec.h"
#include "planning/directives_file.h"

namespace fusescope {
namespace {

/// "--compiler onnxruntime --compiler-option level=all".
std::string compilerText(const PlanOptions& options) {
  std::string text = "--compiler " + options.compiler;
  for (const auto& [name, value] : options.compilerOptions)
    text += " --compiler-option " + shellQuoted(name + "=" + value);
  return text;
}

Result<Exported> writeDirectives(const Plan& plan, const ExportOptions&) {
  std::vector<ExportNote> notes = pinsNotHonoured(plan);
  if (plan.options.ranges != nullptr)
    notes.push_back({"the ranges are no part of directives: give --ranges beside --directives"});
  if (plan.options.compiler != kOwnCompiler || !plan.options.compilerOptions.empty())
    notes.push_back({"the compiler and its options are no part of directives: give " + compilerText(plan.options) +
                     " beside --directives"});
  const bool given = std::ranges::any_of(plan.inputSpecs, [](const InputSpec& spec) { return spec.source == "user"; });
  if (given)
    notes.push_back(
        {"the extents of the inputs are no part of directives: give --input, --min, --opt and --max beside "
         "--directives"});
  return Exported{toJson(directivesFileOf(plan.options)).dump(2) + "\n", std::move(notes)};
}

}  // namespace

const std::vector<Exporter>& exporters() {
  static const std::vector<Exporter> kExporters{
      {"directives", "Directives of Fusescope", "json", "the plan's directives, for Fusescope to open again",
       &writeDirectives},
      {"trtexec", "Command line of trtexec", "sh",
       "a trtexec command line with layer precisions (TensorRT 8.4 to 10.16)", &writeTrtexec, true, false, true},
      {"polygraphy", "Script of Polygraphy", "py",
       "a Polygraphy network script that finds layers by their metadata (TensorRT 8.6 to 10)", &writePolygraphy},
      {"onnx", "Network with the plan's types", "onnx",
       "the network with the plan's types written into it, for strongly typed TensorRT (10.12 on), ONNX Runtime (in "
       "bf16 not on a CPU) and others",
       &writeOnnx, false, true},
      {"modelopt", "Options of ModelOpt's AutoCast", "py",
       "a script that has NVIDIA ModelOpt's AutoCast write the plan's floats into the network (TensorRT 10.12 on)",
       &writeModelopt},
      {"onnxruntime", "Block lists of onnxconverter-common", "py",
       "a script that has onnxconverter-common write the plan's floats into the network (float16 alone)",
       &writeOnnxruntime},
      {"openvino", "Script for OpenVINO", "py",
       "a script that makes OpenVINO's IR with the plan's types as rt_info; of int8 with NNCF's ignored scope",
       &writeOpenvino},
      {"torch-tensorrt", "Settings of Torch-TensorRT", "py",
       "settings of Torch-TensorRT's autocast: the modules that stay in float32", &writeTorchTensorrt},
      {"pt2", "Exported program with casts", "pt2",
       "the exported program (.pt2) with PyTorch's casts around the nodes that the plan lowers", &writePt2, false},
      {"tensorrt-calibration", "TensorRT's calibration cache", "cache",
       "the plan's ranges as TensorRT's calibration cache (up to 10.16)", &writeCalibrationCache, true, false, true},
      {"dot", "Graph for Graphviz", "dot", "the plan as a graph for Graphviz, a cluster per segment and fused node",
       &writeDot},
  };
  return kExporters;
}

const Exporter* findExporter(std::string_view name) {
  for (const auto& exporter : exporters()) {
    if (exporter.name == name) return &exporter;
  }
  return nullptr;
}

}  // namespace fusescope
