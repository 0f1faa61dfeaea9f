#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "frontends/importers.h"
#include "interchange/exports.h"
#include "onnxlib/onnx_text.h"
#include "passes/pipelines.h"
#include "tests/golden/golden_case.h"
#include "tests/support/paths.h"

// One file per case, tests/golden/exports/NAME.txt: a network in ONNX's text and how it is planned, and what
// `fusescope export --to onnx` makes of it: the network's text from its opsets on, its notes, or why it is refused.
//
//   # cpu:avx2 --precision f16        target, then --precision and options of directives
//   # opset 18
//   # weights keep                    --weights; convert if not given
//   # io plan                         --io; keep if not given
//   # input x 200                     an input for the check, all of one number; none: the check is not made
//   # opsets custom                   domains besides ONNX's own
//   net (float[2] x) => (float[2] y) { … }
//   ---
//   UPDATE_GOLDEN=1 writes all below --- anew

namespace fusescope::test {
namespace {

const std::string kExportFolder = "exports";

struct ExportCase {
  GoldenText text;
  PlanOptions plan;
  ExportOptions options;
  std::map<std::string, double> inputs;
  std::string opset = "18", domains, network;
};

ExportCase readExportCase(const std::string& name) {
  ExportCase golden{.text = readGolden(kExportFolder, name)};
  std::istringstream lines(golden.text.head);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) {
      golden.network += line + "\n";
      continue;
    }
    const std::vector<std::string> all = words(line.substr(1));
    if (all.at(0) == "opset") {
      golden.opset = all.at(1);
    } else if (all[0] == "opsets") {
      golden.domains = ", \"" + all.at(1) + "\" : 1";
    } else if (all[0] == "weights") {
      golden.options.own["weights"] = all.at(1);
    } else if (all[0] == "io") {
      golden.options.own["io"] = all.at(1);
    } else if (all[0] == "input") {
      golden.inputs[all.at(1)] = std::stod(all.at(2));
    } else {
      golden.plan = readOptions(all);
    }
  }
  return golden;
}

/// Inputs all of one number each.
std::map<std::string, Tensor> inputsOf(const Plan& plan, const std::map<std::string, double>& numbers) {
  std::map<std::string, Tensor> inputs;
  for (const InputSpec& spec : plan.inputSpecs) {
    Tensor tensor = Tensor::zeros(DataType::F32, spec.opt);
    std::ranges::fill(tensor.mutableData<float>(), static_cast<float>(numbers.at(spec.name)));
    inputs[spec.name] = tensor.converted(spec.dtype);
  }
  return inputs;
}

/// The exported network's text and notes, as `path` is to hold it.
Result<std::string> exported(ExportCase& golden, const std::filesystem::path& source) {
  const std::string header = "<ir_version: 8, opset_import: [\"\" : " + golden.opset + golden.domains + "]>\n";
  TRY(writeFileAtomically(source, TRY(onnxlib::onnxTextToBytes(header + golden.network))));
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(source)))));
  const auto plan = TRY(makePlan(std::move(model), golden.plan));
  golden.options.path = source.parent_path() / "out.onnx";
  if (!golden.inputs.empty()) golden.options.samples.push_back(inputsOf(*plan, golden.inputs));
  const Exported made = TRY(findExporter("onnx")->write(*plan, golden.options));
  if (made.failedCheck) return *made.failedCheck;
  TRY(made.save(golden.options.path));
  std::string text = TRY(onnxlib::onnxBytesToText(TRY(readTextFile(golden.options.path))));
  text = text.substr(text.find("opset_import"));
  for (const ExportNote& note : made.notes) text += "\nnote: " + note.text;
  return text + "\n";
}

class ExportGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ExportGolden, IsAsWritten) {
  ExportCase golden = readExportCase(GetParam());
  const TemporaryFolder folder;
  const auto text = exported(golden, folder / "model.onnx");
  std::string shown = text.ok() ? text.value() : std::string();
  if (!text.ok()) {
    Diagnostic error = text.error();
    error.where.file.clear();
    shown = "error: " + error.text() + "\n";
  }
  expectGolden(kExportFolder, GetParam(), golden.text, shown);
}

INSTANTIATE_TEST_SUITE_P(Exports, ExportGolden, ::testing::ValuesIn(goldenNames(kExportFolder)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusescope::test
