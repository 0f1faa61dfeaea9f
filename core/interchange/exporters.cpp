#include "interchange/export_dot.h"
#include "interchange/export_notes.h"
#include "interchange/export_onnx.h"
#include "interchange/export_polygraphy.h"
#include "interchange/export_trtexec.h"
#include "interchange/exports.h"
#include "planning/directives_file.h"

namespace fusescope {
namespace {

Result<Exported> writeDirectives(const Plan& plan, const ExportOptions&) {
  std::vector<ExportNote> notes = pinsNotHonoured(plan);
  if (plan.options.ranges != nullptr)
    notes.push_back({"the ranges are no part of directives: give --ranges beside --directives"});
  return Exported{toJson(directivesFileOf(plan.options)).dump(2) + "\n", std::move(notes)};
}

}  // namespace

const std::vector<Exporter>& exporters() {
  static const std::vector<Exporter> kExporters{
      {"directives", "Directives of Fusescope", "json", "the plan's directives, for Fusescope to open again",
       &writeDirectives},
      {"trtexec", "Command line of trtexec", "sh",
       "a trtexec command line with layer precisions (TensorRT 8.4 to 10.16)", &writeTrtexec},
      {"polygraphy", "Script of Polygraphy", "py",
       "a Polygraphy network script that finds layers by their metadata (TensorRT 8.6 to 10)", &writePolygraphy},
      {"onnx", "Network with the plan's types", "onnx",
       "the network with the plan's types written into it, for strongly typed TensorRT (10.12 on), ONNX Runtime and "
       "others",
       &writeOnnx, false, true},
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
