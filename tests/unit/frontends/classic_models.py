"""Writes classic_models.json: nodes of ai.onnx.ml, their inputs, and what ONNX Runtime calculates.

    python classic_models.py      with the packages onnx, numpy and onnxruntime

What ONNX Runtime leaves without a meaning (scores that are not written, labels that the file does not name, base values
of targets that no leaf wrote to) is left out.
"""
from pathlib import Path

import numpy as np

from plain_forms import case, f32, real, whole, write

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
X = np.array([[1.0, -3.0], [0.0, 0.0], [-2.0, 1.0], [0.2, 0.3]], np.float32)


def ml(name, op, inputs, outputs=1, **attributes):
    case(name, op, inputs, outputs, domain="ai.onnx.ml", **attributes)


def linear():
    for t in TRANSFORMS:
        ml(f"linear_regressor_{t}", "LinearRegressor", [np.abs(X)], coefficients=[0.1, 0.2, 0.05, 0.1], intercepts=[0.1, 0.2], targets=2, post_transform=t)
        ml(f"linear_classifier_{t}", "LinearClassifier", [np.abs(X)], 2, coefficients=[0.1, 0.2, 0.05, 0.1, 0.2, 0.04], intercepts=[0.1, 0.2, 0.3],
           classlabels_ints=[4, 7, 9], post_transform=t)
        if t != "PROBIT":
            ml(f"linear_classifier_of_two_{t}", "LinearClassifier", [X], 2, coefficients=[0.3, 0.2], intercepts=[0.1], classlabels_strings=["no", "yes"], post_transform=t)
    ml("linear_regressor_one", "LinearRegressor", [X], coefficients=[0.3, 0.2], intercepts=[0.1], post_transform="LOGISTIC")
    ml("linear_regressor_probit", "LinearRegressor", [np.abs(X)], coefficients=[0.1, 0.2], intercepts=[0.1], post_transform="PROBIT")
    ml("linear_regressor_row", "LinearRegressor", [real(3)], coefficients=[0.3, 0.2, 0.5], opened=False)


def support_vectors():
    vectors = dict(vectors_per_class=[1, 1], support_vectors=[0.1, 0.2, 0.3, -0.4], coefficients=[0.6, 0.7], rho=[0.05], classlabels_ints=[4, 7])
    three = dict(vectors_per_class=[1, 2, 1], support_vectors=[0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 1.0, -1.0],
                 coefficients=[0.6, -0.7, 0.3, 0.2, 0.1, -0.4, 0.5, -0.3], rho=[0.05, 0.0, -0.1], classlabels_strings=["a", "b", "c"])
    for kernel in ["LINEAR", "POLY", "RBF", "SIGMOID"]:
        ml(f"svm_{kernel}", "SVMClassifier", [X], 2, kernel_type=kernel, kernel_params=[0.5, 0.1, 3.0], **three)
        ml(f"svm_regressor_{kernel}", "SVMRegressor", [X], kernel_type=kernel, kernel_params=[0.5, 0.1, 3.0], n_supports=2,
           support_vectors=[0.1, 0.2, 0.3, -0.4], coefficients=[0.6, -0.7], rho=[0.05])
    for t in TRANSFORMS[:4]:
        ml(f"svm_of_two_{t}", "SVMClassifier", [X], 2, kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], post_transform=t, **vectors)
        ml(f"svm_probabilities_{t}", "SVMClassifier", [X], 2, kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], post_transform=t,
           prob_a=[-1.2, -1.0, -0.9], prob_b=[0.1, 0.0, 0.2], **three)
    ml("svm_probabilities_of_two", "SVMClassifier", [X], 2, kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], prob_a=[-1.2], prob_b=[0.1], **vectors)
    ml("svm_regressor_one_class", "SVMRegressor", [X], kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], n_supports=2,
       support_vectors=[0.1, 0.2, 0.3, -0.4], coefficients=[0.6, -0.7], rho=[0.05], one_class=1)


def stumps(mode="BRANCH_LEQ", split=0.1, second=-0.3, tracks=None):
    """Two trees: a stump each."""
    trees = dict(nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2], nodes_featureids=[0, 0, 0, 1, 0, 0],
                 nodes_modes=[mode, "LEAF", "LEAF", mode, "LEAF", "LEAF"], nodes_values=[split, 0.0, 0.0, second, 0.0, 0.0],
                 nodes_truenodeids=[1, 0, 0, 2, 0, 0], nodes_falsenodeids=[2, 0, 0, 1, 0, 0])
    return {**trees, "nodes_missing_value_tracks_true": [tracks] * 6} if tracks is not None else trees


def leaves(prefix, ids, weights):
    return {f"{prefix}_treeids": [0, 0, 1, 1], f"{prefix}_nodeids": [1, 2, 1, 2], f"{prefix}_ids": ids, f"{prefix}_weights": weights}


def trees():
    for mode in ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]:
        ml(f"trees_{mode}", "TreeEnsembleRegressor", [X], n_targets=2, base_values=[0.1, 0.2], **stumps(mode, 0.0, 1.0), **leaves("target", [0, 0, 1, 1], [0.7, 0.2, -0.4, 1.5]))
    for how in ["SUM", "AVERAGE", "MIN", "MAX"]:
        ml(f"trees_{how}", "TreeEnsembleRegressor", [X], aggregate_function=how, n_targets=2, **stumps(), **leaves("target", [0, 0, 0, 1], [0.7, 0.2, -0.4, 1.5]))
    for t in TRANSFORMS:
        ml(f"trees_regressor_{t}", "TreeEnsembleRegressor", [X], n_targets=2, post_transform=t, base_values=[0.1, 0.3], **stumps(), **leaves("target", [0, 0, 1, 1], [0.3, 0.2, 0.1, 0.2]))
        ml(f"trees_classifier_{t}", "TreeEnsembleClassifier", [X], 2, classlabels_int64s=[4, 7, 9], post_transform=t, base_values=[0.1, 0.2, 0.3],
           **stumps(), **leaves("class", [0, 1, 2, 0], [0.3, 0.2, 0.1, 0.4]))
        if t == "PROBIT":
            continue
        for sign, weights in {"positive": [0.3, 0.2, 0.1, 0.4], "mixed": [0.3, -0.2, 0.1, -0.4]}.items():
            ml(f"trees_of_two_{sign}_{t}", "TreeEnsembleClassifier", [X], 2, classlabels_strings=["no", "yes"], post_transform=t,
               **stumps(), **leaves("class", [0, 0, 0, 0], weights))
            ml(f"trees_of_the_second_{sign}_{t}", "TreeEnsembleClassifier", [X], 2, classlabels_int64s=[4, 7], post_transform=t,
               **stumps(), **leaves("class", [1, 1, 1, 1], weights))
    ml("trees_base_of_two", "TreeEnsembleClassifier", [X], 2, classlabels_int64s=[0, 1], base_values=[0.25], post_transform="LOGISTIC",
       **stumps(), **leaves("class", [0, 0, 0, 0], [0.3, -0.2, 0.1, -0.4]))
    gaps = np.array([[np.nan, 1.0], [1.0, np.nan], [np.nan, np.nan]], np.float32)
    for tracks in [None, 0, 1]:
        ml(f"trees_missing_{tracks}", "TreeEnsembleRegressor", [gaps], n_targets=1, **stumps(tracks=tracks), **leaves("target", [0, 0, 0, 0], [0.7, 0.2, -0.4, 1.5]))
    ml("trees_of_doubles", "TreeEnsembleClassifier", [X.astype(np.float64)], 2, classlabels_int64s=[3, 2, 1], **stumps(), **leaves("class", [0, 1, 2, 0], [0.3, 0.2, 0.1, 0.4]))


def features():
    for norm in ["MAX", "L1", "L2"]:
        ml(f"normalizer_{norm}", "Normalizer", [X], norm=norm)
    ml("normalizer_wide", "Normalizer", [real(3, 4)], norm="L2")
    ml("scaler", "Scaler", [X], offset=[1.0, -1.0], scale=[2.0, 0.5])
    ml("scaler_one", "Scaler", [real(3, 4)], offset=[1.0], scale=[2.0])
    gaps = np.array([[np.nan, 1.0], [0.0, np.nan], [3.0, 2.0]], np.float32)
    ml("imputer_nan", "Imputer", [gaps], imputed_value_floats=[9.0, 8.0], replaced_value_float=float("nan"))
    ml("imputer_zero", "Imputer", [X], imputed_value_floats=[9.0])
    ml("imputer_integers", "Imputer", [whole(0, 2, 3, 4)], imputed_value_int64s=[5, 6, 7, 8], replaced_value_int64=1)
    ml("binarizer", "Binarizer", [X], threshold=0.2)
    ml("extractor", "ArrayFeatureExtractor", [real(2, 3, 4), np.array([3, 0, 0], np.int64)])
    ml("extractor_row", "ArrayFeatureExtractor", [whole(0, 9, 4), np.array([[3, 1]], np.int64)], opened=False)
    ml("one_hot_integers", "OneHotEncoder", [whole(0, 4, 2, 3)], cats_int64s=[2, 0, 5], zeros=1)
    ml("one_hot_floats", "OneHotEncoder", [f32([1.0, 2.5, 3.0])], cats_int64s=[1, 2, 3], zeros=1)
    ml("vectorizer", "FeatureVectorizer", [real(2, 3), real(2, 2)], inputdimensions=[3, 2])
    ml("mapper", "CategoryMapper", [whole(0, 4, 5)], cats_int64s=[0, 2], cats_strings=["a", "b"], default_string="?")


def compact_trees():
    from onnx import helper, numpy_helper
    tensor = lambda values, dtype: numpy_helper.from_array(np.array(values, dtype))
    for dtype in [np.float32, np.float64]:
        for how in range(4):
            ml(f"compact_trees_{np.dtype(dtype).name}_{how}", "TreeEnsemble", [np.array([[1.2, 3.4], [-0.12, 1.66], [4.14, 1.77], [7.0, 0.0]], dtype)],
               n_targets=2, aggregate_function=how, post_transform=0, tree_roots=[0, 2],
               nodes_modes=tensor([0, 1, 6], np.uint8), nodes_splits=tensor([3.14, 1.2, 0.0], dtype), nodes_featureids=[0, 0, 0],
               nodes_truenodeids=[1, 0, 0], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 1, 3], nodes_falseleafs=[1, 1, 1],
               leaf_targetids=[0, 1, 0, 1], leaf_weights=tensor([5.23, 12.12, -12.23, 7.21], dtype),
               membership_values=tensor([1.2, 7.0, np.nan], dtype))


if __name__ == "__main__":
    linear()
    support_vectors()
    trees()
    features()
    compact_trees()
    write(Path(__file__).with_suffix(".json"))
