#pragma once

#include <map>
#include <string>

#include "frontends/torch/pickle.h"
#include "frontends/torch/zip_members.h"

namespace fusescope::torch {

/// The contents of a torch.save() file: a zip archive with a pickle, and one member for each storage of its tensors.
class SavedObjects {
 public:
  /// `within` is the archive's name in errors. Errors are located at its members. They are those of readPickle(), and
  /// that the file was written on a big-endian machine.
  static Result<SavedObjects> of(Storage archive, std::string within);

  const Pickle& pickle() const { return m_pickle; }
  const PickleValue& top() const { return m_pickle.top(); }
  const PickleValue& at(std::uint32_t index) const { return m_pickle.at(index); }
  /// Returns the tensor that `value`, of kind Tensor, describes. Errors are those of torch::tensorOf(), located at its
  /// storage.
  Result<Tensor> tensor(const PickleValue& value, CopyBudget& budget) const;
  /// Returns the tensors of a dictionary by name, such as a state_dict(). It is an error if it is not such a
  /// dictionary; other errors are those of tensor().
  Result<std::map<std::string, Tensor>> tensorsByName(CopyBudget& budget) const;

 private:
  explicit SavedObjects(ZipMembers members) : m_members(std::move(members)) {}

  ZipMembers m_members;
  std::string m_root;  ///< folder of its members, with the slash
  Pickle m_pickle;
};

}  // namespace fusescope::torch
