#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interchange/typed_network/names_of_file.h"
#include "interchange/typed_network/node_roles.h"
#include "interchange/typed_network/typed_network.h"
#include "planning/structure.h"
#include "target/target_table.h"

namespace fusescope {

/// Returns whether `wide` represents every number of `narrow` exactly.
inline bool holdsAll(DataType wide, DataType narrow) {
  return wide == narrow || (wide == DataType::F32 && isExchangeable(narrow));
}

/// State that the retypers of all graphs of a file share.
struct RetypeContext {
  const onnxlib::FileModel& file;
  const TargetTable& table;
  const TypedNetworkOptions& options;
  TypedNetwork& network;
  std::int64_t opset = 0;        ///< the opset of ai.onnx whose types are allowed
  std::int64_t neededOpset = 0;  ///< the lowest opset that allows all requested types
  std::string neededBy;          ///< the node that needs it
  std::set<std::string> names;   ///< names of all values and nodes, so that new names are unique

  std::string fresh(const std::string& wanted) { return freshName(wanted, names); }
};

/// Gives one graph of the file the types of a plan, and the bodies of its nodes those of their plans. Create it, call
/// run() once, and then finish() when all readers of its constants are known.
class GraphRetyper {
 public:
  /// `plan` is null if all types stay as declared. `outer` is the retyper of the graph around a body.
  GraphRetyper(RetypeContext& shared, const onnxlib::FileGraph& graph, const Plan* plan, onnxlib::GraphPath path,
               GraphRetyper* outer);
  Status run();
  Status finish();

 private:
  /// A value of the graph, with its name in each type in which the network contains it.
  struct FileValue {
    DataType declared = DataType::Undefined;  ///< Undefined: of no float that could be exchanged
    DataType made = DataType::Undefined;      ///< the type in which its producer makes it
    DataType stored = DataType::Undefined;
    std::string madeName;
    std::map<DataType, std::string> forms;  ///< the names of the stored value, by type
    /// The names of the rounded value, by the type that it was rounded to and the type that stores it.
    std::map<std::pair<DataType, DataType>, std::string> rounded;
    std::string castFrom;  ///< what a Cast of the author makes it of
    bool isConstant = false;
    bool isBorder = false;  ///< an output of the graph
    std::size_t producer = 0;
    bool inner = false;                   ///< whether the value exists only inside a kernel
    FusedNodeId fused;                    ///< that kernel
    DataType held = DataType::Undefined;  ///< its type there
  };
  /// The form that an operand needs: the type that it is rounded to, and the type that stores it.
  struct Need {
    DataType rounded = DataType::Undefined, type = DataType::Undefined;
    bool operator==(const Need&) const = default;
  };
  struct ConstantUse {
    onnxlib::NodePlace node;
    std::size_t slot = 0;
    Need need;
  };

  void declareValues();
  void declare(const std::string& name, DataType type);
  void declareUntyped();
  DataType declaredType(const std::string& name) const;
  bool hasTypeInFile(const std::string& name) const;
  void collectReaders();
  void collectReadByBody(const onnxlib::FileGraph& body);
  void classify();
  void widenWhereStoredWider(std::size_t node);
  DataType storedInPlan(const std::string& name, DataType made, FileValue& value) const;
  std::string castOfAuthor(const std::string& name, DataType stored) const;
  bool castsTo(std::size_t node, DataType type) const;
  std::string castedBefore(const FileValue& cast, const std::string& name);
  /// Returns the type of each type parameter of the operator that is not as declared.
  std::map<std::string, Need> parametersOf(std::size_t node, const onnxlib::OperatorTypes& types);
  DataType typeOfMove(std::size_t node);
  DataType wantedOf(const std::string& name, int depth) const;
  Status retypeNode(std::size_t node);
  Status retypeBodies(std::size_t node);
  void retypeOperand(std::size_t node, std::size_t slot, const Need& need, bool anyType);
  void retypeResult(std::size_t node, std::size_t slot, DataType made);
  void retypeInput(const std::string& name);
  /// Returns the name of `name` in the needed form; empty for a constant, which finish() converts.
  std::string formOf(const std::string& name, const Need& need, const ConstantUse& use);
  /// Gives an Einsum letters that the target's parser reads.
  void writeInLowerCase(std::size_t node);
  /// Returns `form` of an operand. If the target requires that the operand is separate from the Cast that widens it,
  /// this is the result of a Sub of 0.
  std::string apartFromCast(std::size_t node, std::size_t slot, const std::string& form, DataType from, DataType to);
  std::string castTo(const std::string& value, const std::string& from, DataType fromType, DataType to,
                     const std::string& wanted = {});
  std::pair<GraphRetyper*, FileValue*> find(const std::string& name);
  Status finishConstant(const std::string& name);
  void readBy(const ConstantUse& use, const std::string& name);
  void convertInPlace(const std::string& name, DataType type, const Tensor& tensor);
  void noteWiderInnerEdges();
  void keepNote(const FileNodeTypes& types, std::size_t node);

  RetypeContext& m_shared;
  const onnxlib::FileGraph& m_graph;
  const Plan* m_plan;
  const onnxlib::GraphPath m_path;
  GraphRetyper* m_outer;
  std::vector<FileNodeTypes> m_types;    ///< by node
  std::vector<std::string> m_nodeNames;  ///< by node
  std::map<std::string, FileValue, std::less<>> m_values;
  std::map<std::string, const onnxlib::FileTensor*, std::less<>> m_constants;
  std::set<std::string> m_untyped;                     ///< values of which nobody says a type
  std::map<std::string, std::size_t> m_constantNodes;  ///< by value
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>, std::less<>> m_readers;  ///< node, slot
  std::set<std::string, std::less<>> m_readAsDeclared;  ///< by bodies, or as outputs
  std::set<std::string, std::less<>> m_handedOut;       ///< by this graph or by a body
  std::map<std::string, std::vector<ConstantUse>> m_constantUses;
  std::vector<std::unique_ptr<GraphRetyper>> m_bodies;
};

}  // namespace fusescope
