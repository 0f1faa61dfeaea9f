#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "interchange/network_part.h"
#include "ir/model.h"
#include "onnxlib/network_edits.h"
#include "planning/plan.h"

namespace fusescope {

/// Types of values by name, as a part is to declare them.
using ValueTypes = std::map<std::string, TensorType>;

/// Cuts parts out of the file that a plan was made of. Nodes, their names, operators, opsets, bodies, functions and
/// weights stay as the file has them. Not thread-safe; it keeps the model of the plan.
class NetworkCutter {
 public:
  /// Reads the file again. Errors: those of sourceNetwork() and of reading.
  static Result<NetworkCutter> open(const Plan& plan, const StopToken& stop);

  const FileValues& values() const { return *m_values; }
  const Model& model() const { return *m_model; }  ///< as it was prepared, before anything was quantised
  const std::filesystem::path& source() const { return m_source; }
  PartFacts facts() const;
  /// What the network calls a node of the file.
  const std::string& nodeName(std::size_t node) const { return m_model->origins[node].name; }
  std::vector<std::string> nodeNames(const std::set<std::size_t>& nodes) const;
  /// The type of an input of the network, with the extents that the user gave; nothing: `value` is none.
  std::optional<TensorType> inputType(const std::string& value) const;

  /// `part` as a network of its own, whose weights are to lie in a file called `weightsName` where they lie beside it.
  /// `types` has those of its inputs, and of outputs whose types are to be declared; `specs` the extents of inputs that
  /// leave some open. Errors: a constant without data; those of editing.
  Result<onnxlib::NetworkBytes> cut(const NetworkPart& part, const ValueTypes& types,
                                    const std::vector<InputSpec>& specs, const std::string& weightsName) const;

 private:
  NetworkCutter() = default;
  std::filesystem::path m_source;
  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const onnxlib::FileModel> m_file;
  std::shared_ptr<const FileValues> m_values;
  std::vector<char> m_stands;  ///< by node of the file: some node of the prepared graph stands for it
};

}  // namespace fusescope
