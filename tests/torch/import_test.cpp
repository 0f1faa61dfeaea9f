// An exported program is made a network by a torch, and opens as that from then on. A stand-in gives what torch made of
// the program before (programs/record.py), or fails as torch does; the probe, the commands and the cache are real.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/torch/recorded_program.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ImportedProgram : public RecordedProgram {
 protected:
  ImportedProgram() { fs::copy_file(m_folder / "recording/net.pt2", program()); }

  std::string program() const { return m_folder / "net.pt2"; }
  Words import(Words more = {}) const {
    Words arguments{"import", program(), "--env", environment()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// The file of that name of the one network that is kept.
  fs::path kept(const std::string& name) const {
    fs::path found;
    for (const auto& entry : fs::recursive_directory_iterator(m_folder / "cache/programs"))
      if (entry.path().filename() == name) found = entry.path();
    return found;
  }
  /// What is found in the file under this code; empty: nothing.
  std::string found(const std::string& code) const {
    const Json inspected = json({"inspect", program()});
    for (const Json& finding : inspected["findings"])
      if (finding["code"] == code) return finding["message"];
    return {};
  }
  bool opensAsNetwork() const { return json({"inspect", program()})["cannot_run"].empty(); }
};

TEST_F(ImportedProgram, OpensAsItsNetworkAndNeedsNoTorchAnyMore) {
  EXPECT_EQ(json({"inspect", program()})["cannot_run"][0]["code"], "build.needs_torch");
  EXPECT_TRUE(has(found("import.needs_torch"), "fusescope import " + program())) << found("import.needs_torch");
  const Json made = json(import());
  EXPECT_EQ(made["is_new"], true);
  EXPECT_TRUE(has(found("import.made_by_torch"), "torch 2.14.1 made this network from the exported program"));
  EXPECT_EQ(found("import.needs_torch"), "");
  EXPECT_EQ(made["torch"], "2.14.1");
  EXPECT_EQ(made["node_count"], 23);
  EXPECT_EQ(made["tied"], 23);
  EXPECT_EQ(made["symbols"], Json::array({Json{{"symbol", "s31"}, {"name", "s31"}, {"min", 1}, {"max", 16}}}));
  EXPECT_EQ(made["nodes"][1]["from"], "linear");
  EXPECT_EQ(made["nodes"][1]["module"], "encoder.0.linear");
  const std::string described = readTextFile(TORCH_TESTS "/../../docs/json.md").value();
  for (const auto& [key, value] : made.items()) EXPECT_TRUE(has(described, key)) << key;
  fs::remove_all(m_folder / "recording/stand_in");
  EXPECT_EQ(json({"import", program()})["is_new"], false) << "nothing is started";

  const Json inspected = json({"inspect", program()});
  EXPECT_EQ(inspected["model"], program());
  EXPECT_EQ(inspected["cannot_run"], Json::array());
  EXPECT_EQ(inspected["input_specs"][0]["source"], "example");
  EXPECT_EQ(inspected["input_specs"][0]["min"], Json::array({1, 8}));
  EXPECT_EQ(inspected["input_specs"][1]["opt"], Json::array({3, 8}));
  EXPECT_EQ(inspected["input_specs"][1]["max"], Json::array({16, 8}));
  EXPECT_EQ(inspected["exported_program"]["made"]["tied"], 23);
}

TEST_F(ImportedProgram, IsRunOnItsExamplesAndGivesWhatTorchGave) {
  json(import());
  const Json run = json({"run", program(), "--expect", arrays()});
  EXPECT_EQ(run["ok"], true) << run.dump();
  EXPECT_EQ(run["random_inputs"], false);
  EXPECT_EQ(run["example_inputs"], true);
  const ProcessResult text = fusescopeCommand({"run", program()});
  EXPECT_TRUE(has(text.out, "on the example inputs in " + program())) << text.out;
  EXPECT_EQ(json({"errors", program(), "--precision", "f16"})["example_inputs"], true);
  EXPECT_EQ(json({"run", program(), "--input", "x=5,8"})["random_inputs"], true) << "the examples have other extents";
}

TEST_F(ImportedProgram, WhatIsSaidOfItsInputsIsWrittenIntoItOrItsNetwork) {
  json(import());
  const Json specs = json({"inspect", program()})["input_specs"];
  std::vector<std::string> said{"inputs", program(), "-o"};
  for (const char* to : {"said.pt2", "said.onnx"}) {
    std::vector<std::string> command{said};
    command.push_back(m_folder / to);
    for (const Json& spec : specs)
      command.insert(command.end(), {"--set", spec["name"].get<std::string>() + "=1..4..16,8"});
    json(command);
    for (const Json& input : json({"inputs", m_folder / to})["inputs"]) {
      EXPECT_EQ(input["source"], "metadata") << to;
      EXPECT_EQ(input["opt"], Json::array({4, 8})) << to;
      EXPECT_EQ(input["max"], Json::array({16, 8})) << to;
    }
  }
  EXPECT_EQ(json({"run", m_folder / "said.onnx"})["random_inputs"], true) << "nobody gave it examples";
}

TEST_F(ImportedProgram, EveryVerbTakesIt) {
  json(import());
  EXPECT_EQ(json({"plan", program(), "--precision", "f16"})["model"], program());
  const std::string engine = m_folder / "net.fse";
  EXPECT_EQ(json({"build", program(), "-o", engine})["engine"], engine);
  EXPECT_EQ(json({"run", engine, "--expect", arrays()})["example_inputs"], true);
  EXPECT_TRUE(json({"time", program(), "--seconds", "0.1"})["median_ms"].is_number());
  const std::string typed = m_folder / "typed.onnx";
  const ProcessResult exported =
      fusescopeCommand({"export", program(), "--to", "onnx", "--pin", "module:encoder.1=f16", "-o", typed});
  EXPECT_EQ(exported.status, 0) << exported.out << exported.err;
  EXPECT_EQ(json({"inspect", typed})["cannot_run"], Json::array());
  const ProcessResult part =
      fusescopeCommand({"extract", program(), "--nodes", "module:encoder.0", "-o", m_folder / "part.onnx"});
  EXPECT_EQ(part.status, 0) << part.out << part.err;
  EXPECT_EQ(fusescopeCommand({"plan", program(), "--original"}).status, 0);
  EXPECT_EQ(fusescopeCommand({"diff", program(), engine}).status, 0);
}

TEST_F(ImportedProgram, NodesKnowWhereTheyComeFrom) {
  json(import());
  const Json node = json({"explain", program(), "node_linear"});
  EXPECT_EQ(node["program_nodes"], Json::array({"linear"}));
  ASSERT_TRUE(node["source"].is_array()) << node.dump();
  EXPECT_TRUE(has(node["source"].dump(), "record.py"));
  const ProcessResult text = fusescopeCommand({"explain", program(), "node_linear"});
  EXPECT_TRUE(has(text.out, "made of linear of the exported program")) << text.out;
  // An engine keeps it.
  json({"build", program(), "-o", m_folder / "net.fse"});
  EXPECT_EQ(json({"explain", m_folder / "net.fse", "node_linear"})["program_nodes"], Json::array({"linear"}));
}

TEST_F(ImportedProgram, WhatTorchSaysIsSaid) {
  inRecording([](Json& told) { told["refuses"] = "the words of the exporter"; });
  const std::string refused = problem(import());
  EXPECT_TRUE(has(refused, "cannot export the program to ONNX. RuntimeError: the words of the exporter")) << refused;
  EXPECT_TRUE(has(refused, "newer torch")) << refused;
  EXPECT_FALSE(has(refused, "--compiler")) << refused;
  EXPECT_TRUE(fs::is_empty(m_folder / "cache/programs"));
  fs::remove_all(m_folder / "recording/stand_in/onnxscript");
  const std::string missing = problem(import());
  EXPECT_TRUE(has(missing, "has no package onnxscript")) << missing;
  EXPECT_TRUE(has(missing, "-m pip install onnxscript")) << missing;
  inRecording([](Json& told) { told["stands_in_for"] = "2.10.0"; });
  const std::string older = problem(import());
  EXPECT_TRUE(has(older, "This is torch 2.10.0")) << older;
  EXPECT_FALSE(opensAsNetwork());
}

TEST_F(ImportedProgram, AnAnswerThatDoesNotFitIsNotKept) {
  const auto refusal = [&](const char* words) {
    const std::string said = problem(import());
    EXPECT_TRUE(has(said, "does not fit the exported program")) << said;
    EXPECT_TRUE(has(said, words)) << said;
    EXPECT_TRUE(kept("made.json").empty());
  };
  const std::string before = readTextFile(m_folder / "recording/told.json").value();
  const auto restore = [&] { std::ofstream(m_folder / "recording/told.json") << before; };
  inRecording([](Json& told) { told["nodes"][0]["node"] = "node_of_nowhere"; });
  refusal("a node node_of_nowhere that its network does not have");
  restore();
  inRecording([](Json& told) { told["nodes"][0]["from"] = "nowhere"; });
  refusal("its network does not say that the node node_layer_norm was made from nowhere");
  restore();
  const fs::path network = m_folder / "recording/network.onnx";
  fs::resize_file(network, fs::file_size(network) / 2);
  refusal("its network cannot be read");
}

TEST_F(ImportedProgram, AnotherNetworkIsNotTakenForIt) {
  fs::copy_file(sampleFolder("bert_tiny") / "model.onnx", m_folder / "recording/network.onnx",
                fs::copy_options::overwrite_existing);
  const std::string said = problem(import());
  EXPECT_TRUE(has(said, "but the inputs of the program are x, mask")) << said;
}

TEST_F(ImportedProgram, AKeptNetworkThatIsTornOrOldIsSaidAndMadeAgain) {
  json(import());
  fs::resize_file(kept("network.onnx"), fs::file_size(kept("network.onnx")) - 1);
  EXPECT_FALSE(opensAsNetwork());
  EXPECT_TRUE(has(found("import.made_network_unusable"), "is not what was written"));
  const ProcessResult text = fusescopeCommand({"inspect", program()});
  EXPECT_TRUE(has(text.out, "is not what was written")) << text.out;
  EXPECT_EQ(json(import())["is_new"], true);
  EXPECT_TRUE(opensAsNetwork());

  const fs::path made = kept("made.json");
  Json about = Json::parse(readTextFile(made).value());
  about["version"] = 2;
  std::ofstream(made) << about.dump();
  EXPECT_TRUE(has(json({"inspect", program()})["exported_program"]["made_unusable"].dump(),
                  "was made by another version of Fusescope: its version is 2, and this one reads version 1"));
  std::ofstream(made) << "{";
  EXPECT_FALSE(opensAsNetwork());
  about["files"][0]["name"] = "../network.onnx";
  about["version"] = 1;
  std::ofstream(made) << about.dump();
  EXPECT_FALSE(opensAsNetwork());
  EXPECT_EQ(json(import())["is_new"], true);
  EXPECT_TRUE(opensAsNetwork());
}

TEST_F(ImportedProgram, APackageOfItsProgramIsPutOverTheNetwork) {
  json(import());
  const Json made = json({"import-engine", program(), "--layers", TORCH_TESTS "/programs/package.pt2"});
  EXPECT_EQ(made["placement"]["placed"], 9);
  const Json product = kernelOf(made, "aoti_torch_cpu_addmm_out:2");
  ASSERT_EQ(product["nodes"].size(), 1U);
  const Json node = json({"explain", program(), product["nodes"][0]["node"]});
  EXPECT_EQ(node["program_nodes"], Json::array({"linear"}));
}

TEST_F(ImportedProgram, AProgramThatChangedIsAnotherOne) {
  json(import());
  std::string bytes = readTextFile(program()).value();
  const std::size_t name = bytes.rfind("serialization_id");
  ASSERT_NE(name, std::string::npos);
  const std::size_t weight = bytes.find("net/data/weights/weight_0");
  ASSERT_NE(weight, std::string::npos);
  bytes[bytes.find('\0', weight + 200) + 3] ^= 1;
  std::ofstream(program(), std::ios::binary) << bytes;
  EXPECT_EQ(json({"inspect", program()})["exported_program"]["made"], nullptr);
}

TEST_F(ImportedProgram, WhatOurReaderRefusesIsNotHandedToTorch) {
  const fs::path log = m_folder / "loaded.txt";
  inRecording([&](Json& told) { told["log"] = log; });
  fs::resize_file(program(), fs::file_size(program()) / 2);
  problem(import());
  EXPECT_FALSE(fs::exists(log));
  m_folder.write("net.pt2", "no archive");
  EXPECT_TRUE(has(problem(import()), "is not an exported program of PyTorch"));
  EXPECT_FALSE(fs::exists(log));
}

TEST_F(ImportedProgram, NamesOfExtentsAreChecked) {
  EXPECT_TRUE(has(problem(import({"--dim", "s31"})), "'s31' is not of the form SYMBOL=NAME"));
  EXPECT_TRUE(has(problem(import({"--dim", "s31=my batch"})), "is not of the form SYMBOL=NAME"));
  EXPECT_TRUE(has(problem(import({"--dim", "s31=a", "--dim", "s31=b"})), "s31 is given two different names"));
  const std::string unknown = problem(import({"--dim", "s1=batch"}));
  EXPECT_TRUE(has(unknown, "has no extent s1")) << unknown;
  EXPECT_TRUE(has(unknown, "Its open extents are s31.")) << unknown;
}

TEST_F(ImportedProgram, WhereNoTorchIsFoundTheWayToOneIsSaid) {
  ::setenv("FUSESCOPE_PYTHON", "python3 -I", 1);
  const bool isHere =
      runProcess({"/usr/bin/env", "python3", "-c", "import importlib.metadata as m; m.version('torch')"}).status == 0;
  if (!isHere) {
    const std::string nowhere = problem({"import", program()});
    EXPECT_TRUE(has(nowhere, "no environment that was found contains torch")) << nowhere;
    EXPECT_TRUE(has(nowhere, "fusescope compilers add NAME COMMAND")) << nowhere;
  }
  const std::string unknown = problem({"import", program(), "--env", "nowhere"});
  EXPECT_TRUE(has(unknown, "--env")) << unknown;
  const std::string build = problem({"build", program(), "-o", m_folder / "net.fse"});
  EXPECT_TRUE(has(build, "fusescope import FILE")) << build;
}

TEST_F(ImportedProgram, TheFirstEnvironmentWithTorchIsTaken) {
  ::setenv("FUSESCOPE_PYTHON", environment().c_str(), 1);
  EXPECT_EQ(json({"import", program()})["environment"], environment());
}

TEST_F(ImportedProgram, IsExportedWithCastsAroundWhatThePlanLowers) {
  const std::string narrow = m_folder / "narrow.pt2";
  const ProcessResult early =
      fusescopeCommand({"export", program(), "--precision", "f16", "--to", "pt2", "-o", narrow});
  EXPECT_EQ(early.status, 2);
  EXPECT_TRUE(has(early.err, "fusescope import " + program())) << early.err;
  json(import());
  const ProcessResult made = fusescopeCommand(
      {"export", program(), "--precision", "f16", "--pin", "node_linear=f32", "--to", "pt2", "-o", narrow});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(has(made.out, "the exported program with ")) << made.out;
  const Json wide = json({"inspect", program()}), cast = json({"inspect", narrow});
  EXPECT_EQ(cast["inputs"].size(), wide["inputs"].size());
  EXPECT_TRUE(has(cast.dump(), "_to_copy"));
  const ProcessResult none = fusescopeCommand({"export", program(), "--to", "pt2", "-o", narrow});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(has(none.err, "nothing below float32")) << none.err;
  const ProcessResult over =
      fusescopeCommand({"export", program(), "--precision", "f16", "--to", "pt2", "-o", program()});
  EXPECT_EQ(over.status, 2);
}

TEST_F(ImportedProgram, AnotherFileHasNoProgramToWriteCastsInto) {
  const ProcessResult made = fusescopeCommand({"export", sampleFolder("digits") / "model.onnx", "--precision", "f16",
                                               "--to", "pt2", "-o", m_folder / "narrow.pt2"});
  EXPECT_EQ(made.status, 2);
  EXPECT_TRUE(has(made.err, "writes casts into an exported program (.pt2)")) << made.err;
}

}  // namespace
}  // namespace fusescope::test
