#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "session/session.h"

namespace fusescope {

/// What a file says of the inputs of a network.
struct NetworkInput {
  InputSpec spec;
  TensorType type;      ///< as the file declares it: open extents have their symbols
  std::string givenBy;  ///< of metadata: the source that the spec had when it was written; else empty
};
struct NetworkInputs {
  std::shared_ptr<const Model> model;
  std::vector<NetworkInput> inputs;
  std::map<std::string, Tensor> examples;  ///< that the file carries
  std::string whyNoExamples;               ///< where there are none; of a file that simply has none: empty
};

/// What is to be said of inputs, before anything is written.
struct InputsWish {
  std::vector<std::string> set;  ///< "x=1..8..32,3,224,224[:TYPE]"; of an input given twice the later one
  std::filesystem::path from;    ///< a file that says it: a network, plan, engine, session or recipe; empty: none
  std::vector<std::string>
      examples;  ///< files that `--inputs` takes, with one sample; empty: those that are there stay
};

/// Reads the inputs of a model, a plan, an engine or a session, with `wish` on top. Errors: those of opening; extents
/// that the network does not have or that are not in order, located at the input.
Result<NetworkInputs> networkInputs(const std::filesystem::path& path, const InputsWish& wish = {},
                                    const StopToken& stop = {}, const Progress& progress = {});

/// The same of a model that is open.
NetworkInputs networkInputs(std::shared_ptr<const Model> model);

/// The example inputs of a wish, whole and checked against the inputs; nothing where it names none.
Result<std::optional<std::map<std::string, Tensor>>> wishedExamples(const NetworkInputs& inputs, const InputsWish& wish,
                                                                    const StopToken& stop = {});

/// Writes the network of `inputs`, which a model file holds, to `to`, with what is known of its inputs but not assumed:
/// into an .onnx file as metadata, and where PyTorch's exporter left ranges in it in their place; into an exported
/// program of PyTorch as that says (pt2_writer.h). `examples`: to be carried too; nothing: those of the file stay.
/// Another program that reads the file finds it as before, otherwise. At every moment `to` is as it was or whole.
/// Errors: `to` leads to what the network is read from; nothing is known that could be written; the file holds metadata
/// of a newer version, which would be lost; a range that an exported program was not exported for; examples that are
/// too large.
Status writeInputs(const NetworkInputs& inputs, const std::optional<std::map<std::string, Tensor>>& examples,
                   const std::filesystem::path& to, const StopToken& stop = {});

/// {format "fusescope.inputs", version, model, kind, inputs[{name, type, dims[], min[], opt[], max[], source,
/// given_by}], examples[{name, type, dims[]}], why_no_examples, findings[{code, subject, message}], written}. `written`
/// may be empty.
Json toJson(const NetworkInputs& inputs, const std::string& written);

}  // namespace fusescope
