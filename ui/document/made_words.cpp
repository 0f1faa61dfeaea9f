#include "ui/document/made_words.h"

#include <algorithm>

#include "ui/document/qt_text.h"

namespace fusescope {

QString undisclosed() {
  return QStringLiteral("not disclosed");
}

QString typeWord(DataType type) {
  return type == DataType::Undefined ? undisclosed() : qs(type);
}

std::string undisclosedText(const TensorType& type) {
  TensorType unknown = type;
  unknown.dtype = DataType::Undefined;
  QString text = qs(unknown.text());
  return text.replace(qs(DataType::Undefined), undisclosed() + QLatin1Char(' ')).toStdString();
}

QString fateWord(Fate fate) {
  switch (fate) {
    case Fate::Kernel:
    case Fate::Fallback:
      return {};
    case Fate::Folded:
      return QStringLiteral("folded");
    case Fate::Removed:
      return QStringLiteral("removed");
    case Fate::View:
      return QStringLiteral("view");
    case Fate::Merged:
      return QStringLiteral("merged");
    case Fate::NotDisclosed:
      return undisclosed();
  }
  return {};
}

QString fateText(Fate fate) {
  switch (fate) {
    case Fate::Kernel:
      return QStringLiteral("Kernels calculate it.");
    case Fate::Folded:
      return QStringLiteral("Folded: it was calculated when the network was compiled.");
    case Fate::Removed:
      return QStringLiteral("Removed: its result is not needed, or it does nothing.");
    case Fate::View:
      return QStringLiteral("A view: its result uses the memory of its input.");
    case Fate::Merged:
      return QStringLiteral("Merged: an equal node is calculated in its place.");
    case Fate::Fallback:
      return QStringLiteral("Fallback: the compiler refused it, or the user excluded it, and our own engine runs it.");
    case Fate::NotDisclosed:
      return QStringLiteral("Not disclosed: the compiler does not say what became of it.");
  }
  return {};
}

QString certaintyText(Certainty certainty) {
  switch (certainty) {
    case Certainty::Verified:
      return QStringLiteral("verified: its numbers were compared");
    case Certainty::Named:
      return QStringLiteral("named: the compiler names the node");
    case Certainty::Derived:
      return QStringLiteral("derived: it is between tensors that the compiler names");
    case Certainty::Guessed:
      return QStringLiteral("guessed: the compiler says nothing that contradicts it");
  }
  return {};
}

QString pinResultText(PinResult result) {
  switch (result) {
    case PinResult::Obeyed:
      return QStringLiteral("obeyed");
    case PinResult::Ignored:
      return QStringLiteral("ignored");
    case PinResult::Widened:
      return QStringLiteral("widened");
    case PinResult::Moved:
      return QStringLiteral("moved to a neighbour");
    case PinResult::WithoutKernel:
      return QStringLiteral("without a kernel");
    case PinResult::NotDisclosed:
      return undisclosed();
  }
  return {};
}

std::optional<Certainty> certaintyOf(const ReadBackPlan& made, const FusedNode* fused, NodeId node) {
  if (fused == nullptr || made.kernels[fused->id.index].isOurs) return std::nullopt;
  const std::vector<Certainty>& known = made.kernels[fused->id.index].certainty;
  const auto place = static_cast<std::size_t>(std::ranges::find(fused->nodes, node) - fused->nodes.begin());
  return place < known.size() ? std::optional(known[place]) : std::nullopt;
}

std::optional<Certainty> leastCertain(const ReadBackPlan& made, const FusedNode& fused) {
  const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
  if (kernel.isOurs || kernel.certainty.empty()) return std::nullopt;
  return *std::ranges::max_element(kernel.certainty);
}

QString compilerTitle(const CompilerIdentity& compiler) {
  return compiler.version.empty() ? qs(compiler.name)
                                  : QStringLiteral("%1 %2").arg(qs(compiler.name), qs(compiler.version));
}

QString coverWords(const Cover& cover) {
  if (const ReadBackPlan* made = asReadBack(cover))
    return QStringLiteral("kernels as %1 made them").arg(compilerTitle(made->compiler));
  if (cover.options.compiler == kOwnCompiler) return {};
  return QStringLiteral("prediction of the kernels of %1").arg(qs(cover.options.compiler));
}

}  // namespace fusescope
