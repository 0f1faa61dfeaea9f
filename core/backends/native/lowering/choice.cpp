#include "backends/native/lowering/choice.h"

namespace fusescope::native {

DnnlCode dnnlCodeOf(std::string_view implementation) {
  const auto begins = [&](std::string_view text) { return implementation.starts_with(text); };
  if (begins("ref") || implementation.ends_with(":ref") || implementation.ends_with("ref:any"))
    return DnnlCode::Reference;
  if (begins("jit_uni_int8")) return DnnlCode::Int8Vectors;
  if (begins("brg:avx512")) return DnnlCode::WideBlocks;
  return begins("jit") || begins("br") ? DnnlCode::Generated : DnnlCode::Compiled;
}

bool isGenerated(DnnlCode code) {
  return code == DnnlCode::Generated || code == DnnlCode::Int8Vectors || code == DnnlCode::WideBlocks;
}

std::string text(const Choice& choice) {
  if (choice.isReference()) return choice.implementation + ":reference";
  const std::string kind(choice.kind.name);
  return choice.by == Choice::By::OneDnn ? kind + ":" + choice.implementation : kind;
}

}  // namespace fusescope::native
