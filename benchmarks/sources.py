"""Where every network of the benchmark can be had, and the sha256 of the file in our form.

No network is part of oddhop. ``ODDHOP_DATA`` names a folder with one sub-folder a network, each with
``NAME.npz``: ``edge_index`` (2, edges), ``x`` or its CSR parts, and ``y`` where there are labels.
"""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """Where a network comes from, and what its file must be."""

    sha256: str
    where: str
    anomaly_labels: bool


SOURCES = {
    "acm_structure_only": Source(
        "515b208e3283ab289e4b3f6e5c81dbbd5e0b6949f2dde1d49001e8bc91961f10",
        "data/ACM/ACM.edgelist of github.com/XuexiongLuoMQ/ComGA",
        False,
    ),
    "acmv9": Source(
        "3c9b1aadc135134e9163abdcf14732ef0afc7e509ccafb8544e4df0e976f6e80",
        "ACDNE_codes/input/acmv9.mat of github.com/shenxiaocam/ACDNE",
        False,
    ),
    "amazon_computers": Source(
        "2743cc706f1071623ce067b028650cca889e9d3c94d84faff6983ec975e054d9",
        "datasets/amazon_cs.npz of github.com/EdisonLeeeee/GraphData",
        False,
    ),
    "amazon_fraud_tam": Source(
        "75e8a40d7907ee55aeb589121ef1ca5d8f93ce37bb84de52d821b7d0282e8362",
        "dataset/Amazon.mat of github.com/ljie-07/DGAD",
        True,
    ),
    "amazon_photo": Source(
        "fd894a42a1f887ac137e740e7fa17bd655e5eafc8eed99983c111b1780ff0793",
        "datasets/amazon_photo.npz of github.com/EdisonLeeeee/GraphData",
        False,
    ),
    "blogcatalog_dominant": Source(
        "ae12993db45b686c9aed51ac2fa7ba7e1abb725403583f7a12711738363db7dc",
        "data/data.zip!BlogCatalog.mat of github.com/DodiyaParth/NL_GCN_ANOMALY_DETECTION",
        True,
    ),
    "blogcatalog_raw": Source(
        "e26d2507ebf46c049583806a5dc388cd92efbb193face19a753eee4f6316c2cd",
        "raw_dataset/BlogCatalog/BlogCatalog.mat of github.com/GRAND-Lab/CoLA",
        False,
    ),
    "bond_disney": Source(
        "4a027a1dfee2c53e321d6f4ae5bef7ee8f868e9a0478d216890be6fae9bfa55c",
        "disney.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_100": Source(
        "2477003a4211df83ec2f367537ce9a2b9767e1a227aee9d65e2bc5f8f56ee132",
        "gen_100.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_1000": Source(
        "a8a7b2079a4f3038512fcdf60c811f1ee2c9b743b016f4c8089c7c766e061b43",
        "gen_1000.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_10000": Source(
        "d9bf5c8423ffe4f9d6c995b211be0a757bfa61b3dd4cd4e3ff72e60ef47e1eab",
        "gen_10000.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_500": Source(
        "c803b0932fec801aec3b918ee8feabab7e684582790622bb692ee581bc97a7b1",
        "gen_500.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_5000": Source(
        "2d485ed16c7fbbd2936f333ccb1d87ffd00577c789e8fb77d487930038db60b4",
        "gen_5000.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_gen_time": Source(
        "cfe669fd3f6949bf4ce8b04ebf51862db7d857153728268228a21ac7927ba486",
        "gen_time.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_inj_amazon": Source(
        "37030202eeccdb1b9099c667de08bd355e1b78d90214fc79d54d1a35c4453453",
        "inj_amazon.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_inj_cora": Source(
        "90bd1a07a9569f47abe46f17ba5dbc41221bb2cf3b59f6bfd782f461da8e1060",
        "inj_cora.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "bond_reddit": Source(
        "4f98e1c6deae187b741cab364cf355cb64a20f3f4e331dd415cc9a1d31b169f3",
        "reddit.pt.zip of github.com/pygod-team/data",
        True,
    ),
    "citation_injected": Source(
        "ddef58d8483839939ecc0636062992da1f7bf7f495c375e6e1f7813b89e1bb2a",
        "dataset/citation.mat of github.com/SZU-AdvTech-2024/"
        "286-Anomaly-Detection-on-Attributed-Networks-via-Contrastive-Self-Supervised-Learning",
        True,
    ),
    "citeseer": Source(
        "e9dfd81e959182a69440cf05728e9c073a8d48b7822cc796fa8dbb474656f160",
        "data/ind.citeseer.* of github.com/kimiyoung/planetoid",
        False,
    ),
    "citeseer_cola_injected": Source(
        "ea619595c070721da9a733bb12f287d4ae2bfb9b8285d5f05a64621dddd117d3",
        "dataset/citeseer.mat of github.com/GRAND-Lab/ANEMONE",
        True,
    ),
    "coauthor_cs": Source(
        "169ba4a613b41384534c757346edbdd89075fa4c35e76eb217fbb0d51fda6ef7",
        "datasets/coauthor_cs.npz of github.com/EdisonLeeeee/GraphData",
        False,
    ),
    "coauthor_physics": Source(
        "f0921b77e6e0bbd1d57e2b86f78d2f4e9f6068e19bd8a7dbd29c99b279e9b135",
        "datasets/coauthor_phy.npz of github.com/EdisonLeeeee/GraphData",
        False,
    ),
    "cora": Source(
        "b344eea2a4510b0e6611e5455d1fb8bacdfcc33e164e3afa69f456efcd868126",
        "data/ind.cora.* of github.com/kimiyoung/planetoid",
        False,
    ),
    "cora_cola_injected": Source(
        "046b0819f601f01f4878395099c1c8307b9faf121fa3db67f05a4196656c6e0e",
        "dataset/cora.mat of github.com/GRAND-Lab/ANEMONE",
        True,
    ),
    "ctu13_botnet_20110815": Source(
        "249abf3a57e31bef30de657ad5598d6e21a365e808e8bef60167cf612a832fb3",
        "gae/data/node-capture20110815-sample_10-matlab.mat of github.com/rs-1/GCN_AnomalyDetection",
        True,
    ),
    "dblp_injected": Source(
        "99efd668d9f7c063e576e016ebdf4483bcd98372b6c8b12d1e97e248188ea793",
        "dataset/DBLP.mat of github.com/SZU-AdvTech-2024/"
        "286-Anomaly-Detection-on-Attributed-Networks-via-Contrastive-Self-Supervised-Learning",
        True,
    ),
    "debian_bookworm": Source(
        "cd077ffe2410a8f50142a2cc8f8364a9f97fdaf92814bd4d4a1595c503d1f378",
        "Debian 12.15 (bookworm) main/binary-amd64 Packages index, Packages file of bookworm main amd64",
        False,
    ),
    "facebook_tam": Source(
        "12e09d44aa2568db772032364bd29a77ada59fc09217a1ecacac4f6f9e675f15",
        "data/Facebook.mat of github.com/mala-lab/TAM-master",
        True,
    ),
    "flickr_raw": Source(
        "15bec1b49dcfe7592442053d6e663c03685b372ea844e2286389d3f5d5cc06c5",
        "raw_dataset/Flickr/Flickr.mat of github.com/GRAND-Lab/CoLA",
        False,
    ),
    "hcm_amazon": Source(
        "7c7f5dfe79ac97306e209037d59b02e33993e42c58574e649981480fe1ee4574",
        "data/Amazon.mat of github.com/TienjinHuang/GraphAnomalyDetection",
        True,
    ),
    "hcm_enron": Source(
        "dda785115b140277809d71cae895310de5e6b500b0c94d85bfbbef92211cf01c",
        "data/Enron.mat of github.com/TienjinHuang/GraphAnomalyDetection",
        True,
    ),
    "npm_2016": Source(
        "f1b34c11c732d5a8b83257047fe51f1280ccc8b08a8432cb18f21fe3a9091e41",
        "npm package dependent-packages@2.2.2, github.com/zeke/dependent-packages",
        False,
    ),
    "tolokers": Source(
        "d33c0c3b5dae1ba9e875b32c53df8633e3d811892a0c4da860be077526f83179",
        "data/tolokers.npz of github.com/yandex-research/heterophilous-graphs",
        True,
    ),
}
"""By name."""
