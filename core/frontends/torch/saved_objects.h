#pragma once

#include <map>
#include <string>

#include "frontends/torch/pickle.h"
#include "frontends/torch/zip_members.h"

namespace fusescope::torch {

/// What torch.save() wrote: a zip archive with a pickle, and a member for each storage of its tensors.
class SavedObjects {
 public:
  /// `within`: what errors call the archive. Errors, located at its members: as readPickle(); it was written on a
  /// big-endian machine.
  static Result<SavedObjects> of(Storage archive, std::string within);

  const Pickle& pickle() const { return m_pickle; }
  const PickleValue& top() const { return m_pickle.top(); }
  const PickleValue& at(std::uint32_t index) const { return m_pickle.at(index); }
  /// The tensor that `value`, of kind Tensor, describes. Errors as torch::tensorOf(), located at its storage.
  Result<Tensor> tensor(const PickleValue& value, CopyBudget& budget) const;
  /// The tensors of a dictionary by names, as state_dict() is one. Errors: it is no such dictionary; as tensor().
  Result<std::map<std::string, Tensor>> tensorsByName(CopyBudget& budget) const;

 private:
  explicit SavedObjects(ZipMembers members) : m_members(std::move(members)) {}

  ZipMembers m_members;
  std::string m_root;  ///< of its members, with the slash
  Pickle m_pickle;
};

}  // namespace fusescope::torch
